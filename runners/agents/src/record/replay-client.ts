// Answers as a recorded model did, to the very requests that it was asked: anything else is a miss, and an error,
// for an attempt that is half a recording and half made up would be told from nothing.
import type { ModelClient } from "../model/model-client.ts";
import type { Recording } from "./recording.ts";
import type { DigestRequest } from "./request-digest.ts";

/** The replay met a request that its recording does not hold. */
export class ReplayMiss extends Error {}

export function replayClient({ model, calls }: Recording, digestOf: DigestRequest): ModelClient {
  // equal requests may have been answered differently: they come in the order of the recording
  const waiting = new Map<string, Recording["calls"]>();
  for (const call of calls)
    waiting.set(call.requestDigest, [...(waiting.get(call.requestDigest) ?? []), call]);
  let asked = 0;
  return {
    provider: model.provider,
    model: model.id,
    async call(request) {
      request.signal.throwIfAborted();
      asked++;
      const { digest, chain } = digestOf(request);
      const found = waiting.get(digest)?.shift();
      if (found) return { kind: "answered", response: found.response };
      throw new ReplayMiss(missWords(asked, request.messages, { chain, calls }));
    },
  };
}

type RecordedConversation = { chain: string[]; calls: Recording["calls"] };

function missWords(
  asked: number,
  messages: { role: string }[],
  { chain, calls }: RecordedConversation,
): string {
  const known = new Set(calls.map(({ requestDigest }) => requestDigest));
  const same = chain.findLastIndex((digest) => known.has(digest));
  const where =
    same < 1
      ? "its model, tools or first messages differ"
      : `it matches the recording up to message ${same} of ${messages.length}; the messages after that ` +
        `(${
          messages
            .slice(same, same + 3)
            .map(({ role }) => role)
            .join(", ") || "nothing"
        }) differ, or were answered already`;
  return (
    `call ${asked} is not in the recording (${calls.length} calls): ${where}; ` +
    "a replay needs the same prompt, data, scaffold version and tools, and programs that print the same: record it again"
  );
}
