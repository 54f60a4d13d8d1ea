// The jobs of an attempt, one after the other, as one stage: the process that follows them submits the next one as
// long as the attempt makes progress, and keeps the secrets over all of them. Whether an attempt without progress
// goes on is left to a run.
import type { Place, Running } from "@mlrb/core/ports/executor";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import type { AttemptJob } from "./attempt-job.ts";

export type AttemptChainOptions = {
  /** How many calls the attempt's models have answered. */
  answers(): number;
  /** How long jobs in a row may end with their time without an answer: they only wait, and hold their GPUs, ms. */
  waitMs: number;
  /** Whether a person pauses the attempt now. */
  isPaused(): boolean;
  /** Submits the next job, because the one before it ended; undefined where only a run can. May reject. */
  next(job: AttemptJob, after: string): Promise<AttemptJob> | undefined;
};

export class AttemptChain implements Running {
  /** The end of the newest job. */
  readonly ended: Promise<ExecutionResult>;
  /** Of its first job. */
  readonly began: Promise<Place>;
  readonly #options: AttemptChainOptions;
  #job: AttemptJob;
  #asked: "askToEnd" | "kill" | undefined;
  #beganMs: number | undefined;
  #isResumed = false;
  #waitedMs = 0;
  #brokenOff: string | undefined;

  constructor(first: AttemptJob, options: AttemptChainOptions) {
    this.#options = options;
    this.#job = first;
    this.began = first.began;
    this.ended = this.#follow();
  }

  askToEnd(): void {
    this.#asked ??= "askToEnd";
    this.#job.askToEnd();
  }

  kill(): void {
    this.#asked = "kill";
    this.#job.kill();
  }

  /** A person has resumed the attempt, perhaps with new keys. */
  resumed(): void {
    this.#isResumed = true;
  }

  /** Why the attempt goes on in another job, which this chain does not submit. */
  brokenOff(): string | undefined {
    return this.#brokenOff;
  }

  /** How long the newest job has run; time in a queue is no duration. */
  ranMs(): number {
    return this.#beganMs === undefined ? 0 : performance.now() - this.#beganMs;
  }

  async #follow(): Promise<ExecutionResult> {
    for (;;) {
      const job = this.#job;
      const answersBefore = this.#options.answers();
      this.#beganMs = undefined;
      this.#isResumed = false;
      void job.began?.then(() => {
        if (this.#job === job) this.#beganMs = performance.now();
      });
      const result = await job.ended;
      this.#brokenOff = this.#asked ? undefined : job.brokenOff();
      if (this.#brokenOff === undefined || !this.#hasProgress(job, answersBefore)) return result;
      try {
        const next = await this.#options.next(job, this.#brokenOff);
        if (!next) return result;
        this.#job = next;
      } catch (error) {
        this.#brokenOff = `its next job could not be submitted: ${(error as Error).message}`;
        return result; // nothing of the attempt is lost: a run continues it
      }
      if (this.#asked) this.#job[this.#asked]();
    }
  }

  /** Also under a pause: a person decides how long it lasts. A job that never began is no progress. */
  #hasProgress(job: AttemptJob, answersBefore: number): boolean {
    const { answers, isPaused, waitMs } = this.#options;
    const began = this.#beganMs !== undefined;
    if (answers() > answersBefore || (began && (this.#isResumed || isPaused()))) {
      this.#waitedMs = 0;
      return true;
    }
    this.#waitedMs += this.ranMs();
    return job.hadItsTurn() && this.#waitedMs < waitMs;
  }
}
