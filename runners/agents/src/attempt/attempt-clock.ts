// The clock of an attempt. All time is work except the time for which everything in the sandbox was frozen, or was
// stopped with this process by a cluster. Only such time moves the deadline. Waits that overlap are one: the first
// freezes, the last thaws. The end of the attempt freezes for good, so a wait that ends later thaws nothing.
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { watchStopped } from "./stopped-time.ts";

export type ClockOptions = {
  sandbox: Pick<Sandbox, "freeze" | "thaw">;
  /** Wall clock at the start, ms since the epoch. */
  startedWall: number;
  /** Monotonic, ms since the start. */
  sinceStart(): number;
  /** Of an attempt that continues after a restart. */
  frozenMs?: number;
  /** Observes a job that is suspended. */
  stopped?: Pick<ReturnType<typeof watchStopped>, "take" | "close">;
};

export class AttemptClock {
  readonly startedWall: number;
  readonly sinceStart: () => number;
  readonly #sandbox: ClockOptions["sandbox"];
  /** Waits in progress, and the end of the attempt. */
  #wanted = 0;
  #over = false;
  #frozen = false;
  #frozenSince: number | undefined;
  #frozenBefore: number;
  #turn: Promise<void> = Promise.resolve();
  readonly #stopped: ClockOptions["stopped"];
  #suspendedMs = 0;

  constructor({ sandbox, startedWall, sinceStart, frozenMs = 0, stopped }: ClockOptions) {
    this.#stopped = stopped;
    this.#frozenBefore = frozenMs;
    this.#sandbox = sandbox;
    this.startedWall = startedWall;
    this.sinceStart = sinceStart;
  }

  /** The sum of all freezes, including the current one, and of the time for which the job was suspended. */
  frozenMs(): number {
    this.#observe();
    return this.#frozenBefore + this.#currentFreezeMs();
  }

  /** For how long the job was suspended since the last call. */
  takeSuspendedMs(): number {
    this.#observe();
    const taken = this.#suspendedMs;
    this.#suspendedMs = 0;
    return taken;
  }

  isWaiting(): boolean {
    return this.#wanted > 0;
  }

  workingMs(): number {
    return this.sinceStart() - this.frozenMs();
  }

  /** Runs `wait` with everything frozen. Rejects as `wait` does. */
  async during<T>(wait: () => Promise<T>): Promise<T> {
    this.#wanted++;
    const freezing = this.#settle();
    freezing.catch(() => {}); // awaited below
    try {
      return await wait();
    } finally {
      this.#wanted--;
      await freezing;
      await this.#settle();
    }
  }

  /** Freezes for good, and stops counting. False where something still runs. */
  async stop(): Promise<boolean> {
    this.#observe();
    this.#stopped?.close();
    this.#wanted++;
    this.#over = true;
    this.#frozenBefore += this.#currentFreezeMs();
    this.#frozenSince = undefined;
    await this.#settle();
    return this.#frozen;
  }

  #observe(): void {
    const stoppedMs = this.#stopped?.take() ?? 0;
    if (this.#frozenSince !== undefined || this.#over) return; // a freeze counts it already
    this.#frozenBefore += stoppedMs;
    this.#suspendedMs += stoppedMs;
  }

  #currentFreezeMs(): number {
    return this.#frozenSince === undefined ? 0 : this.sinceStart() - this.#frozenSince;
  }

  /** Brings the sandbox into the state that is wanted when its turn comes, one change at a time. */
  #settle(): Promise<void> {
    const next = this.#turn.then(async () => {
      if (this.#wanted > 0 && !this.#frozen) {
        this.#frozen = await this.#sandbox.freeze();
        this.#observe();
        if (this.#frozen && !this.#over) this.#frozenSince = this.sinceStart();
      } else if (this.#wanted === 0 && this.#frozen) {
        this.#observe();
        const frozenMs = this.#currentFreezeMs();
        this.#frozenSince = undefined;
        this.#frozen = false;
        if (await this.#sandbox.thaw()) this.#frozenBefore += frozenMs;
      }
    });
    this.#turn = next.catch(() => {}); // the caller gets the error
    return next;
  }
}
