// The events of a trajectory in its order, with their places, and each tool result with its call. Hostile code may
// have written the texts, so each that is read is cut to a bound.
import type { LongText, ToolResultEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { isTable } from "@mlrb/formats/is-table";

export type TimedEvent = ReturnType<TimedEvents["next"]>;

type ToolCall = { index: number; name: string; input: string };

export type ToolResult = { call: ToolCall; failed: boolean; text: string; executed: boolean };

/** The place of an event in its trajectory, as far as its line holds one. */
export type EventPlace = { index: number; sinceStartMs: number | null; time: string | null };

const textMax = 1 << 16;
const openCallsMax = 1000;

export class TimedEvents {
  readonly #calls = new Map<string, ToolCall>();

  /** Pass undefined for a line that is not an event of this version: only its place is kept. */
  next(event: TrajectoryEvent | undefined, place: EventPlace) {
    const index = whole(place.index);
    if (event?.event === "tool-call" && this.#calls.size < openCallsMax)
      this.#calls.set(callKey(event), { index, name: nameOf(event.name), input: longText(event.input) });
    return {
      index,
      sinceStartMs: whole(place.sinceStartMs ?? 0),
      time: (place.time ?? "").slice(0, 40),
      /** Undefined for a line that is not an event of this version. */
      event,
      /** What the event tool-result says, if its call was seen. */
      result: event?.event === "tool-result" ? this.#resultOf(event) : undefined,
    };
  }

  #resultOf(event: ToolResultEvent): ToolResult | undefined {
    const key = callKey(event);
    const call = this.#calls.get(key);
    this.#calls.delete(key);
    const { outcome, exit, executed, text } = event;
    const failed = outcome !== "done" || (exit !== null && (!("code" in exit) || exit.code !== 0));
    return call && { call, failed, text: longText(text), executed };
  }
}

/** What joins a result to its call: ids are unique within one conversation of one member. */
function callKey({ member = "", by, id }: { member?: string; by: string; id: string }): string {
  return `${nameOf(member)}/${nameOf(by)}/${cut(id)}`;
}

/** The program in a tool's arguments, `{"command": …}`, `{"code": …}` or the like; else the arguments themselves. */
export function commandOf({ input }: ToolCall): string {
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch {
    return input; // cut short, so not JSON any more
  }
  if (!isTable(value)) return input;
  const { command, cmd, code, script } = value;
  const found = [command, cmd, code, script].find((one) => typeof one === "string" || Array.isArray(one));
  if (found === undefined) return input;
  return cut(Array.isArray(found) ? found.filter((one) => typeof one !== "object").join(" ") : String(found));
}

/** The beginning of a long text. */
function longText(text: LongText): string {
  return cut(typeof text === "string" ? text : text.head);
}

export function cut(text: string): string {
  return text.slice(0, textMax);
}

function nameOf(text: string): string {
  return text.slice(0, 80);
}

function whole(value: number): number {
  return value >= 0 && value < Number.MAX_SAFE_INTEGER ? Math.round(value) : 0;
}
