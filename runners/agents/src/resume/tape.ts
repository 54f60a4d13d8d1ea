// Plays a conversation of an earlier supervisor to its scaffold, up to the last event on disk: the scaffold runs
// again from its start, and everything that it asked or did is answered from the trajectory. Nothing is asked, run
// or recorded twice. From there on the scaffold is live.
import type { ToolResultEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { wholeText } from "../record/attachments.ts";
import { responseOf } from "../record/recording.ts";
import type { AskResult, PastCall, RecordedResult } from "../scaffold/scaffold.ts";

const taped = [
  ...(["message", "reminder", "context-cut", "note", "file-change"] as const),
  ...(["model-call", "model-try", "tool-call", "tool-result"] as const),
] as const;

export type Taped = Extract<TrajectoryEvent, { event: (typeof taped)[number] }>;

export function isTaped<Event extends TrajectoryEvent>(event: Event): event is Event & Taped {
  return (taped as readonly string[]).includes(event.event);
}

export type TapeOptions = {
  events: Taped[];
  /** Of the attempt; undefined if its lines hold all texts whole. */
  attachments: string | undefined;
};

export class Tape {
  readonly #options: TapeOptions;
  readonly #events: Taped[];
  #at = 0;
  /** Whether the last event is a call whose tool had not answered. */
  #inFlight = false;

  constructor(options: TapeOptions) {
    this.#options = options;
    this.#events = options.events.filter(isPlayed);
  }

  /** Whether everything was played. */
  get over(): boolean {
    return this.#at === this.#events.length;
  }

  /** True if the event is recorded already. Throws if the scaffold does something else than it did. */
  knows(event: TrajectoryEvent): boolean {
    if (this.over || !isTaped(event)) {
      this.#inFlight = false;
      return false;
    }
    const known = this.#events[this.#at]!;
    if (nameOf(known) !== nameOf(event)) throw differs(event, known);
    this.#at++;
    this.#inFlight = event.event === "tool-call";
    return true;
  }

  /** The reminders of this look; undefined once everything was played. */
  reminders(look: number): string[] | undefined {
    if (this.over) return undefined;
    const due: string[] = [];
    for (let next = this.#events[this.#at]; next?.event === "reminder" && next.look === look; ) {
      due.push(next.text);
      next = this.#events[++this.#at];
    }
    return due;
  }

  /** The recorded answer; undefined if the call must be made. */
  answer(by: string): AskResult | undefined {
    let tooLong = false;
    for (; this.#events[this.#at]?.event === "model-try"; this.#at++) tooLong = true;
    const next = this.#events[this.#at];
    if (next?.event === "model-call" && next.by === by) {
      const response = responseOf(next, this.#options.attachments ?? "");
      if (typeof response === "string") throw new Error(`the attempt cannot continue: ${response}`);
      this.#at++;
      return { kind: "answered", response };
    }
    if (tooLong) return { kind: "too-long" };
    if (next) throw differs({ event: "model-call", by }, next);
    return undefined;
  }

  /** Of the tool whose call was just played; undefined if the tool must run. */
  past(name: string): PastCall | undefined {
    if (!this.over) {
      while (this.#events[this.#at]?.event === "file-change") this.#at++;
      const next = this.#events[this.#at];
      if (next?.event === "tool-result" && next.name === name) return this.#resultOf(next);
      if (next) throw differs({ event: "tool-result", name }, next);
      this.#inFlight = true;
    }
    if (!this.#inFlight) return undefined;
    this.#inFlight = false;
    return "ended";
  }

  #resultOf({ outcome, exit, text, rest, executed }: ToolResultEvent): RecordedResult {
    const found = wholeText(text, this.#options.attachments);
    if (!found.whole && typeof text !== "string")
      throw new Error(
        `the attempt cannot continue: the text of a tool's result, attachments/${text.digest}, is missing or was changed; put it back`,
      );
    return {
      ...{ outcome, executed, text: found.text },
      ...(exit && { exit }),
      ...(rest !== null && { rest }),
    };
  }
}

/** A scaffold sees a failed try only if it must shorten its request. */
function isPlayed(event: Taped): boolean {
  return event.event !== "model-try" || event.cause === "too-long";
}

type Named = { event: string; by?: string; why?: string; name?: string };

function nameOf(event: Named): string {
  return [event.event, event.by, event.why, event.name].filter((part) => part !== undefined).join(" ");
}

function differs(now: Named, then: Named): Error {
  return new Error(
    `the attempt cannot continue from its trajectory: its scaffold comes to ${nameOf(now)} where it came to ${nameOf(then)}; continue it with the version of mlrb that began it`,
  );
}
