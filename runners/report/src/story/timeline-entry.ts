// How the story's timeline shows an event: as a line of its own, counted with others, or not at all. Pure.

import type { LongText, ToolResultEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { eventWords, resultWords, shown, toolWords } from "./event-words.ts";

export type Mark = "bad" | "strong" | "faint";

export type TimelineEntry =
  | { kind: "notable"; what: string; text: string; mark?: Mark | undefined; whole?: LongText[] | undefined }
  | { kind: "quiet"; what: string };

/** A command that took this long, or this share of the budget, has a line of its own. */
const notableMs = 10_000;
const notableShare = 0.01;

export type EntryFacts = {
  /** Input of the call that a tool-result answers; empty if unknown. */
  input: LongText;
  /** Why the attempt ended; null if unknown. */
  ended: string | null;
  budgetMs: number;
};

export function timelineEntry(event: TrajectoryEvent, facts: EntryFacts): TimelineEntry | undefined {
  switch (event.event) {
    case "start":
      return notable(
        "started",
        `an agent of kind ${event.kind}, sandbox ${event.sandbox}, deadline ${event.deadline}`,
      );
    case "model-call":
      return event.finish === "refusal" || event.finish === "length"
        ? notable("model", eventWords(event), "bad")
        : { kind: "quiet", what: "model calls" };
    case "model-try":
      return notable("try", eventWords(event), "bad");
    case "tool-result":
      return resultEntry(event, facts);
    case "message":
      return ["notice", "nudge", "task", "prompt"].includes(event.why)
        ? notable(event.why, `to ${event.by}: ${shown(event.text)}`, "faint", [event.text])
        : undefined;
    case "exec-end": {
      const words = eventWords(event);
      return notable("program ended", words, words === "exit 0" ? undefined : "bad");
    }
    case "board":
      return notable(event.purpose, `to ${event.to}: ${shown(event.text)}`, "strong", [event.text]);
    case "output":
      return { kind: "quiet", what: "pieces of output" };
    case "file-change":
      return { kind: "quiet", what: "files written by tools" };
    case "end": {
      const well = facts.ended === "finished" || facts.ended === "submitted";
      return notable("ended", facts.ended ?? eventWords(event), well ? "strong" : "bad");
    }
    case "tool-call":
    case "output-clipped":
    case "snapshot-dropped":
      return undefined;
    default:
      return notable(event.event, eventWords(event), markOf(event));
  }
}

/** For the full timeline, and for the short one by default. */
export function markOf(event: TrajectoryEvent): Mark | undefined {
  if (["snapshot-skipped", "model-try", "board-refused"].includes(event.event)) return "bad";
  if (["iteration", "extended", "member-start", "member-end"].includes(event.event)) return "strong";
  return ["budget", "wait", "member-wait"].includes(event.event) ? "faint" : undefined;
}

/** `whole`: the texts of which `text` may show only the beginning. */
function notable(what: string, text: string, mark?: Mark, whole?: LongText[]): TimelineEntry {
  return { kind: "notable", what, text, mark, whole };
}

function resultEntry(event: ToolResultEvent, { input, budgetMs }: EntryFacts): TimelineEntry {
  const { name, outcome, exit, executed, durationMs } = event;
  const bad = outcome !== "done" || (exit !== null && (!("code" in exit) || exit.code !== 0));
  const long = durationMs >= notableMs || durationMs >= notableShare * budgetMs;
  if (!bad && !(executed && long))
    return { kind: "quiet", what: executed ? "programs run by tools" : "other tool calls" };
  const words = toolWords(name, input).slice(name.length + 1);
  return notable(name, `${words} (${resultWords(event)})`, bad ? "bad" : undefined, [input, event.text]);
}
