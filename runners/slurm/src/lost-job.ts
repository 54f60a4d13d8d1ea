// A job whose last file did not come, or that Slurm has forgotten: how it ended, and how long its signs of life are waited
// for before it counts as lost.
import type { SlurmJob } from "@mlrb/formats/stage/slurm-job";
import { accountedState } from "./job-account.ts";
import type { JobFolder } from "./job-folder.ts";
import type { JobState } from "./job-state.ts";
import { endInOutput } from "./read-squeue.ts";

type LostJobOptions = {
  folder: JobFolder;
  job: SlurmJob;
  env: NodeJS.ProcessEnv;
  /** How long a job may give no sign of life. */
  silentMs: number;
  /** Called when the job gives a sign of life that Slurm does not know of. */
  lives(): void;
};

export class LostJob {
  readonly #options: LostJobOptions;
  /** The last sign of life, and when this host first saw it. */
  #beat: { at: string; sinceMs: number } | undefined;

  constructor(options: LostJobOptions) {
    this.#options = options;
  }

  /** Slurm lists the job as one that goes on. */
  isKnown(): void {
    this.#beat = undefined;
  }

  /** By the accounts of the cluster, or else by what Slurm wrote into the job's output. Undefined if neither says it. */
  async state(id: string | undefined): Promise<JobState | undefined> {
    const { folder, job, env } = this.#options;
    const accounted = id === undefined ? undefined : await accountedState(id, job.run, env);
    return accounted ?? endInOutput(folder.said());
  }

  /** Whether the job has lately given a sign of life. */
  mayGoOn(): boolean {
    const at = this.#options.folder.beat();
    if (this.#beat?.at !== at) {
      if (this.#beat) this.#options.lives();
      this.#beat = { at, sinceMs: performance.now() };
    }
    return performance.now() - this.#beat!.sinceMs < this.#options.silentMs;
  }
}
