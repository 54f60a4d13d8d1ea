// The part of a trajectory's event that the rules read, in one plain form. Hostile code may have written the texts,
// so each is cut to a bound.
import type { LongText, ToolResultEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { isTable } from "@mlrb/formats/is-table";

type At = { index: number; sinceStartMs: number; time: string };
export type TimedEvent = At & Fact;
export type ToolCall = Extract<TimedEvent, { kind: "tool-call" }>;
export type ToolResult = Extract<TimedEvent, { kind: "tool-result" }>;

type Fact =
  | { kind: "exec" }
  | { kind: "exec-end"; how: string; code: number | null; over: string | null }
  | { kind: "output"; text: string }
  | { kind: "claim"; line: string }
  | { kind: "snapshot"; name: string; digest: string; files: number }
  | { kind: "model-call"; refusal: boolean; tokens: number | null; dollars: number | null }
  | { kind: "model-try"; whose: string; cause: string; last: boolean }
  | { kind: "tool-call"; key: string; name: string; command: string | null; input: string }
  | {
      kind: "tool-result";
      key: string;
      /** The call that it answers; undefined where that call was not seen. */
      call: ToolCall | undefined;
      failed: boolean;
      text: string;
      executed: boolean;
    }
  | { kind: "end"; ended: string }
  | { kind: "other" };

/** The place of an event in its trajectory, as far as its line holds one. */
export type EventPlace = { index: number; sinceStartMs: number | null; time: string | null };

const textMax = 1 << 16;
const openCallsMax = 1000;

/** Makes timed events of a trajectory, in its order, and pairs each tool result with its call. */
export class TimedEvents {
  readonly #calls = new Map<string, ToolCall>();

  /** Pass undefined for a line that is not an event of this version: only its place is kept. */
  next(event: TrajectoryEvent | undefined, place: EventPlace): TimedEvent {
    const at = {
      index: whole(place.index),
      sinceStartMs: whole(place.sinceStartMs ?? 0),
      time: (place.time ?? "").slice(0, 40),
    };
    const timed: TimedEvent = { ...at, ...(event === undefined ? { kind: "other" } : fact(event)) };
    if (timed.kind === "tool-call" && this.#calls.size < openCallsMax) this.#calls.set(timed.key, timed);
    if (timed.kind !== "tool-result") return timed;
    const call = this.#calls.get(timed.key);
    this.#calls.delete(timed.key);
    return { ...timed, call };
  }
}

function fact(event: TrajectoryEvent): Fact {
  switch (event.event) {
    case "exec":
      return { kind: "exec" };
    case "exec-end": {
      const { kind = "", code = null, over } = event.result;
      return { kind: "exec-end", how: cut(kind), code, over: over ? cut(over.limit ?? "") : null };
    }
    case "output":
      return { kind: "output", text: cut(event.text) };
    case "iteration":
      return { kind: "claim", line: cut(event.line) };
    case "snapshot": {
      const { name, digest, files } = event;
      return { kind: "snapshot", name: cut(name), digest, files };
    }
    case "model-call": {
      const { finish, usage, dollars } = event;
      const tokens = usage ? usage.inputTokens + usage.outputTokens : null;
      return { kind: "model-call", refusal: finish === "refusal", tokens, dollars };
    }
    case "model-try":
      return { kind: "model-try", whose: event.whose, cause: event.cause, last: event.waitMs === null };
    case "tool-call": {
      const input = longText(event.input);
      return {
        kind: "tool-call",
        key: callKey(event),
        name: nameOf(event.name),
        command: commandOf(input),
        input,
      };
    }
    case "tool-result":
      return toolResult(event);
    case "end":
      return { kind: "end", ended: cut(event.ended) };
    default:
      return { kind: "other" };
  }
}

function toolResult(event: ToolResultEvent): Fact {
  const { outcome, exit, executed } = event;
  return {
    kind: "tool-result",
    key: callKey(event),
    call: undefined,
    failed: outcome !== "done" || (exit !== null && (!("code" in exit) || exit.code !== 0)),
    text: longText(event.text),
    executed,
  };
}

/** What joins a result to its call: ids are unique within one conversation. */
function callKey({ by, id }: { by: string; id: string }): string {
  return `${nameOf(by)}/${cut(id)}`;
}

/** The program in a tool's arguments: `{"command": …}`, `{"code": …}` or the like. */
function commandOf(input: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch {
    return /^\s*\{/.test(input) ? input : null; // cut short, so not JSON any more
  }
  if (!isTable(value)) return null;
  const { command, cmd, code, script } = value;
  const found = [command, cmd, code, script].find((one) => typeof one === "string" || Array.isArray(one));
  if (found === undefined) return null;
  return (
    Array.isArray(found) ? found.filter((one) => typeof one !== "object").join(" ") : String(found)
  ).slice(0, textMax);
}

/** The beginning of a long text. */
function longText(text: LongText): string {
  return cut(typeof text === "string" ? text : text.head);
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
