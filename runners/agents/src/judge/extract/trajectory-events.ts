// Adds the events of a trajectory to an extract. Conversations have numbers, since the harness names them after parts
// of a scaffold. Left out: clocks, costs, names of models, settings of requests, and what only the harness did.
import { hash } from "node:crypto";
import { BenchmarkCallCounter } from "@mlrb/core/iterations/benchmark-calls";
import { type LongText, type TrajectoryEvent, trajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { readFormat } from "@mlrb/formats/read-format";
import type { Json } from "@mlrb/formats/schema";
import { splitLines } from "@mlrb/kit/attempts/split-lines";
import { parsedJson } from "../../model/json-text.ts";
import { wholeText } from "../../record/attachments.ts";
import type { ExtractDraft } from "./extract-draft.ts";
import { saidParts } from "./said-parts.ts";

type Files = { trajectory: string; attachments?: string | undefined };

/** The lines of calls that name the benchmark by one of `publicNames`, and what was downloaded, in words. */
export async function addTrajectory(draft: ExtractDraft, files: Files, publicNames: readonly string[]) {
  const [naming, downloads] = [[] as number[], new Set<string>()];
  const take = eventTaker(draft, files.attachments);
  let number = -1;
  for await (const line of splitLines(files.trajectory)) {
    number++;
    const reading = typeof line === "string" ? undefined : readFormat(trajectoryEvent, line.toString());
    if (reading?.kind !== "ok") {
      draft.leaveOut(reading ? "an event of an unknown form" : `the rest of the trajectory, ${line}`);
      continue;
    }
    const event = reading.value;
    take(event, number);
    const counter = new BenchmarkCallCounter(publicNames);
    counter.take(event);
    const counted = counter.end();
    if (counted.kind === "counted" && counted.calls > 0) naming.push(number);
    if (event.event === "download")
      downloads.add(JSON.stringify({ kind: event.from, id: event.id, path: event.path, bytes: event.bytes }));
    if (event.event === "download-refused")
      downloads.add(JSON.stringify({ refused: event.asked, cause: event.cause }));
  }
  return { naming, downloads };
}

function eventTaker(draft: ExtractDraft, attachments: string | undefined) {
  const conversations = new Map<string, string>();
  /** Digests of what models said and called: programs send it back, and supervisors carry it out. */
  const known = new Set<string>();
  const whole = (long: LongText): string => {
    const { text, whole } = wholeText(long, attachments);
    if (!whole) draft.leaveOut("the rest of a long text, which is not on record");
    return text;
  };
  return (event: TrajectoryEvent, line: number) => {
    const say = (how: string, message: Json, repeats = false) => {
      const by = "by" in event && event.event !== "note" ? event.by : undefined;
      const number = () => `Conversation ${conversations.size + 1}`;
      const who = by === undefined ? "The attempt" : conversations.getOrInsertComputed(by, number);
      for (const [kind, text] of saidParts(message, by === undefined ? "note" : "message")) {
        const digest = hash("sha256", `${kind} ${text}`);
        if (!(repeats && kind !== "result" && known.has(digest)))
          draft.add(kind, `${who} ${how}:\n${text}`, line);
        known.add(digest);
      }
    };
    switch (event.event) {
      case "message":
        return say(`is told as ${event.role}`, whole(event.text));
      case "model-call": {
        const thought = { type: "reasoning", text: whole(event.reasoning ?? "") };
        const calls = event.toolCalls.map((one) => ({ ...one, type: "tool_use", input: whole(one.input) }));
        return say("answers", [thought, whole(event.text), ...calls]);
      }
      case "tool-call":
        return say("runs", { type: "tool_use", name: event.name, input: whole(event.input) }, true);
      case "tool-result": {
        const end = [event.outcome, ...Object.entries(event.exit ?? {}).flat()].join(" ");
        const text = whole(event.text) || "(no text)";
        return say(`gets from ${event.name}, ${end}`, { type: "tool", text });
      }
      case "request-part": {
        if (event.again || event.part === "settings") return;
        const json = whole(event.text);
        return say(`is sent by a program, as ${event.role ?? event.part}`, parsedJson(json) ?? json, true);
      }
      case "output":
        return say(`writes to ${event.stream}`, { type: "tool", text: event.text });
      case "output-clipped":
        return draft.leaveOut("output of the attempt's program, which is not on record");
      case "iteration":
        return say("reports an experiment", event.line);
      case "note":
        return say("notes", whole(event.text));
      case "resumed":
        return say("went back", "to an earlier state after a restart: what came last may come again");
      case "end":
        return say("ends", event.ended);
      default: // no part of what the attempt did
    }
  };
}
