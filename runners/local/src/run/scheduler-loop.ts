// Sends events to the scheduler, one at a time, and passes its commands to the run.

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
  /** Called with the resources that startable instances wait for, after each change. */
  onQueued: (waits: string) => void;
  onError: (error: unknown) => void;
};

/** Most startable instances start at once: only waits longer than this time are reported. */
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

  /** An event that is sent during the handling of another is handled next. */
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

  /** Stops all reports. */
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
