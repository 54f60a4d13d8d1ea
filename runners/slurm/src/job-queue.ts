// Asks Slurm about all watched jobs together: one `squeue` per interval, whatever their number. A call that fails
// is no news about any job.
import { setTimeout as sleep } from "node:timers/promises";
import { callSlurm } from "./call-slurm.ts";
import { type ListedJob, readSqueue, squeueFormat } from "./read-squeue.ts";

export type JobNews =
  | { kind: "listed"; job: ListedJob }
  /** Slurm has no job of this name, or has forgotten it. */
  | { kind: "absent" }
  /** Slurm did not answer. */
  | { kind: "silent"; detail: string };

/** `run` and `job` name it, also before it has an id: ids are used again after a crash of the controller. */
export type WatchedJob = { run: string; job: string; id?: string | undefined; hear: (news: JobNews) => void };

export class JobQueue {
  readonly #env: NodeJS.ProcessEnv;
  readonly #intervalMs: number;
  readonly #watched = new Set<WatchedJob>();
  #timer: NodeJS.Timeout | undefined;
  #asking: Promise<void> | undefined;
  #again = false;

  constructor({ env, intervalMs }: { env: NodeJS.ProcessEnv; intervalMs: number }) {
    this.#env = env;
    this.#intervalMs = intervalMs;
  }

  watch(watched: WatchedJob): void {
    this.#watched.add(watched);
    this.#timer ??= setTimeout(() => this.look(), this.#intervalMs);
  }

  unwatch(watched: WatchedJob): void {
    this.#watched.delete(watched);
    if (this.#watched.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Asks before the interval has passed, once for all who wish it now. */
  look(): void {
    if (this.#asking) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#asking = this.#ask().finally(() => {
      this.#asking = undefined;
      this.#timer = undefined;
      if (this.#watched.size === 0) return;
      const delay = this.#again ? Math.min(this.#intervalMs, 1_000) : this.#intervalMs;
      this.#again = false;
      this.#timer = setTimeout(() => this.look(), delay);
    });
  }

  async #ask(): Promise<void> {
    await sleep(0); // the wishes of one moment are one question
    const asked = [...this.#watched];
    const runs = [...new Set(asked.map(({ run }) => run))];
    if (runs.length === 0) return;
    const jobs = await listJobs(runs, this.#env);
    for (const one of asked) {
      if (!this.#watched.has(one)) continue;
      if (!Array.isArray(jobs)) one.hear(jobs);
      else {
        const job = findJob(jobs, one);
        one.hear(job ? { kind: "listed", job } : { kind: "absent" });
      }
    }
  }
}

/** Every job of these runs that Slurm knows, ended ones included. */
export async function listJobs(
  runs: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ListedJob[] | { kind: "silent"; detail: string }> {
  // `--all`: also jobs of hidden partitions
  const args = [
    "--noheader",
    "--all",
    "--states=all",
    `--name=${runs.join(",")}`,
    `--format=${squeueFormat}`,
  ];
  const answer = await callSlurm("squeue", args, { env });
  return answer.kind === "ok" ? readSqueue(answer.text) : { kind: "silent", detail: answer.detail };
}

/**
 * Every job that was submitted for this one: two if the answer of the first submission was lost. A known id and
 * the run's name suffice, since sites rewrite comments; but a comment of another job of the run says that the id
 * was used again.
 */
export function jobsOf(jobs: readonly ListedJob[], { run, job, id }: Omit<WatchedJob, "hear">): ListedJob[] {
  return jobs.filter((one) => {
    if (one.name !== run) return false;
    const [named] = one.comment.split(" ", 1);
    return named === job || (id !== undefined && one.id === id && !/^\d+ ./.test(one.comment));
  });
}

/** The job with the known id, or else the last that was submitted. */
export function findJob(
  jobs: readonly ListedJob[],
  watched: Omit<WatchedJob, "hear">,
): ListedJob | undefined {
  const own = jobsOf(jobs, watched);
  return watched.id === undefined ? own.at(-1) : own.find(({ id }) => id === watched.id);
}
