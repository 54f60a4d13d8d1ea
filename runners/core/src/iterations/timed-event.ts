// What the rules see of an event of a trajectory: its facts in one plain form. Hostile code may have written the
// texts, so each is cut to a bound.
import type { LongText, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { isTable } from "@mlrb/formats/is-table";

export type TimedEvent = { index: number; sinceStartMs: number; time: string } & Fact;

type Fact =
  | { kind: "start"; budgetMs: number | null }
  | { kind: "exec" }
  | { kind: "exec-end"; how: string; code: number | null; over: string | null }
  | { kind: "output"; text: string; clipped: boolean }
  | { kind: "claim"; line: string }
  | { kind: "snapshot"; name: string; digest: string; files: number; torn: number; gone: string[] }
  | {
      kind: "model-call";
      by: string;
      text: string;
      refusal: boolean;
      tokens: number | null;
      dollars: number | null;
    }
  | { kind: "model-try"; whose: string; cause: string; last: boolean }
  | { kind: "tool-call"; key: string; by: string; name: string; command: string | null; input: string }
  | {
      kind: "tool-result";
      key: string;
      outcome: string;
      failed: boolean;
      text: string;
      clipped: boolean;
      executed: boolean;
      lost: boolean;
    }
  | { kind: "end"; ended: string }
  | { kind: "other" };

/** Where an event lies in its trajectory, as far as its line says so. */
export type EventPlace = { index: number; sinceStartMs: number | null; time: string | null };

const textMax = 1 << 16;

/** `event`: undefined for a line that is none of this version's events, of which rules see the place alone. */
export function seenEvent(
  event: TrajectoryEvent | undefined,
  { index, sinceStartMs, time }: EventPlace,
): TimedEvent {
  return {
    index: whole(index),
    sinceStartMs: whole(sinceStartMs ?? 0),
    time: (time ?? "").slice(0, 40),
    ...(event === undefined ? { kind: "other" } : fact(event)),
  };
}

function fact(event: TrajectoryEvent): Fact {
  switch (event.event) {
    case "start":
      return { kind: "start", budgetMs: event.budget?.wallMs ?? null };
    case "exec":
      return { kind: "exec" };
    case "exec-end": {
      const { kind = "", code = null, over } = event.result;
      return { kind: "exec-end", how: cut(kind), code, over: over ? cut(over.limit ?? "") : null };
    }
    case "output":
      return { kind: "output", text: cut(event.text), clipped: false };
    case "output-clipped":
      return { kind: "output", text: "", clipped: true };
    case "iteration":
      return { kind: "claim", line: cut(event.line) };
    case "snapshot": {
      const { name, digest, files, torn = [], gone = [] } = event;
      return {
        kind: "snapshot",
        ...{ name: cut(name), digest, files, torn: torn.length, gone: gone.slice(0, 100).map(cut) },
      };
    }
    case "model-call": {
      const { by, text, finish, usage, dollars } = event;
      const tokens = usage ? usage.inputTokens + usage.outputTokens : null;
      return {
        kind: "model-call",
        by: nameOf(by),
        text: longText(text).text,
        refusal: finish === "refusal",
        tokens,
        dollars,
      };
    }
    case "model-try":
      return { kind: "model-try", whose: event.whose, cause: event.cause, last: event.waitMs === null };
    case "tool-call": {
      const input = longText(event.input).text;
      const [by, name] = [nameOf(event.by), nameOf(event.name)];
      return { kind: "tool-call", key: `${by}/${cut(event.id)}`, by, name, command: commandOf(input), input };
    }
    case "tool-result": {
      const { by, id, outcome, exit, rest, executed } = event;
      const { text, clipped } = longText(event.text);
      return {
        kind: "tool-result",
        key: `${nameOf(by)}/${cut(id)}`,
        outcome,
        failed: outcome !== "done" || (exit !== null && (!("code" in exit) || exit.code !== 0)),
        text,
        clipped: clipped || rest !== null,
        executed,
        lost: /\bsandbox (is gone|ended|was lost|died)\b/i.test(text),
      };
    }
    case "end":
      return { kind: "end", ended: cut(event.ended) };
    default:
      return { kind: "other" };
  }
}

/** The program that a tool was asked to run: `{"command": …}`, `{"code": …}` or the like. */
function commandOf(input: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch {
    return /^\s*\{/.test(input) ? input : null; // cut short, so no JSON any more
  }
  if (!isTable(value)) return null;
  const { command, cmd, code, script } = value;
  const found = [command, cmd, code, script].find((one) => typeof one === "string" || Array.isArray(one));
  if (found === undefined) return null;
  return (Array.isArray(found) ? found.map(String).join(" ") : String(found)).slice(0, textMax);
}

/** A long text's beginning, and whether that is all of it. */
function longText(text: LongText): { text: string; clipped: boolean } {
  return typeof text === "string"
    ? { text: cut(text), clipped: false }
    : { text: cut(text.head), clipped: true };
}

function cut(text: string): string {
  return text.slice(0, textMax);
}

function nameOf(text: string): string {
  return text.slice(0, 80);
}

function whole(value: number): number {
  return value >= 0 && value < Number.MAX_SAFE_INTEGER ? Math.round(value) : 0;
}
