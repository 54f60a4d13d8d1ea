// Divides an attempt's time into waits, model calls and programs, by the durations of its events. Time of several
// kinds at once counts as a wait before a model call, and as a model call before a program. Memory is bounded.
import type { TimeSpent } from "@mlrb/formats/attempt/iterations";
import type { TimedEvent } from "./timed-event.ts";

export class TimeSpentReader {
  /** Waits; also model calls; also programs. */
  readonly #covered = [new CoveredTime(), new CoveredTime(), new CoveredTime()] as const;
  /** By member of a team. */
  readonly #programFrom = new Map<string | undefined, number>();

  take({ event, sinceStartMs }: TimedEvent): void {
    switch (event?.event) {
      case "wait":
        this.#add(0, sinceStartMs, event.durationMs);
        break;
      case "model-call":
        this.#add(1, sinceStartMs, event.durationMs);
        break;
      case "tool-result":
        if (event.executed) this.#add(2, sinceStartMs, event.durationMs);
        break;
      case "exec":
        this.#programFrom.set(event.member, sinceStartMs);
        break;
      case "exec-end":
        this.#add(2, sinceStartMs, sinceStartMs - (this.#programFrom.get(event.member) ?? 0));
    }
  }

  end(): TimeSpent {
    const [waits, calls, programs] = this.#covered.map((each) => each.totalMs()) as [number, number, number];
    return { waitMs: waits, modelMs: calls - waits, programMs: programs - calls };
  }

  #add(kind: number, endMs: number, durationMs: number): void {
    for (const covered of this.#covered.slice(kind)) covered.add(Math.max(0, endMs - durationMs), endMs);
  }
}

/** Tool calls of one conversation rarely run longer than so many calls of the others. */
const intervalsMax = 1000;

/** The length of the union of intervals that come in the order of their ends. */
class CoveredTime {
  readonly #open: { start: number; end: number }[] = [];
  #closedMs = 0;

  add(start: number, end: number): void {
    const merged = { start, end };
    for (let last = this.#open.at(-1); last && last.end >= merged.start; last = this.#open.at(-1)) {
      merged.start = Math.min(merged.start, last.start);
      merged.end = Math.max(merged.end, last.end);
      this.#open.pop();
    }
    this.#open.push(merged);
    const oldest = this.#open.length > intervalsMax ? this.#open.shift() : undefined;
    if (oldest) this.#closedMs += oldest.end - oldest.start;
  }

  totalMs(): number {
    return this.#open.reduce((sum, { start, end }) => sum + end - start, this.#closedMs);
  }
}
