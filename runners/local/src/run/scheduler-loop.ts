// Feeds events to the scheduler, one at a time, and hands its commands to the run.

import { type Queued, queuedFor, queuedWords } from "@mlrb/core/schedule/queued-for";
import { step } from "@mlrb/core/schedule/schedule";
import {
  type Capacity,
  type Command,
  type Event,
  initialState,
  type ScheduleState,
  type Work,
} from "@mlrb/core/schedule/schedule-state";

type LoopOptions = {
  works: Work[];
  capacity: Capacity;
  failFast: boolean;
  obey: (command: Command) => void;
  /** Called with what instances wait for that could start, where that has changed. */
  onQueued: (waits: string) => void;
  onError: (error: unknown) => void;
};

/** Most instances that could start do so at once: only what still waits after this time is reported. */
const queuedMs = 500;

export class SchedulerLoop {
  readonly #options: LoopOptions;
  readonly #events: Event[] = [];
  #state: ScheduleState;
  #draining = false;
  #timer: NodeJS.Timeout | undefined;
  #reported = "";
  #stopped = false;

  constructor(options: LoopOptions) {
    const { works, capacity, failFast } = options;
    this.#options = options;
    this.#state = initialState(works, { capacity, failFast });
  }

  /** An event that is sent while another is handled comes after it. */
  send(event: Event): void {
    this.#events.push(event);
    if (this.#draining) return;
    this.#draining = true;
    try {
      for (let next = this.#events.shift(); next; next = this.#events.shift()) {
        const { state, commands } = step(this.#state, next);
        this.#state = state;
        for (const command of commands) this.#options.obey(command);
      }
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#draining = false;
    }
    if (!this.#stopped) this.#timer ??= setTimeout(() => this.#report(), queuedMs).unref();
  }

  queued(): Queued[] {
    return queuedFor(this.#state, this.#options.capacity);
  }

  interrupts(): number {
    return this.#state.interrupts;
  }

  /** Reports nothing from here on. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #report(): void {
    this.#timer = undefined;
    const waits = queuedWords(this.queued());
    if (waits !== this.#reported) this.#options.onQueued(waits);
    this.#reported = waits;
  }
}
