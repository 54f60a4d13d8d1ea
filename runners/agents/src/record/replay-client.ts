// Answers as a recorded model did, only to the requests in the recording. Any other request is an error: an
// attempt that is half a recording and half made up would have no meaning.
import type { ModelClient } from "../model/model-client.ts";
import type { Recording } from "./recording.ts";
import type { ReplayClock } from "./replay-clock.ts";
import { ReplayMiss } from "./replay-miss.ts";
import type { DigestRequest } from "./request-digest.ts";

export function replayClient(
  { model, calls }: Pick<Recording, "model" | "calls">,
  { digestOf, clock }: { digestOf: DigestRequest; clock?: ReplayClock | undefined },
): ModelClient {
  // equal requests may have different answers: they come in the order of the recording
  const waiting = Map.groupBy(calls, ({ requestDigest }) => requestDigest);
  let asked = 0;
  return {
    provider: model.provider,
    model: model.id,
    async call(request) {
      request.signal.throwIfAborted();
      asked++;
      const { digest, chain } = digestOf(request);
      const found = waiting.get(digest)?.shift();
      if (found) {
        clock?.advance(found.durationMs);
        return { kind: "answered", response: found.response };
      }
      throw new ReplayMiss(missWords(asked, request.messages, { chain, calls }));
    },
  };
}

function missWords(
  asked: number,
  messages: { role: string }[],
  { chain, calls }: { chain: string[]; calls: Recording["calls"] },
): string {
  const known = new Set(calls.map(({ requestDigest }) => requestDigest));
  const same = chain.findLastIndex((digest) => known.has(digest));
  const after = messages.slice(same, same + 3).map(({ role }) => role);
  const where =
    same < 1
      ? "its model, tools or first messages differ"
      : `it matches the recording up to message ${same} of ${messages.length}; the messages after that ` +
        `(${after.join(", ") || "nothing"}) differ, or were answered already`;
  return (
    `call ${asked} is not in it (${calls.length} calls): ${where}; ` +
    "a replay needs the same prompt, data, scaffold version and tools, and programs that print the same: record it again"
  );
}
