// Runs trusted stages as jobs of Slurm, on nodes that share the repository and the state folder with this host.
// Slurm decides where and when. The job carries the stage out by a program that the caller names; its last file is
// the truth about its end, and Slurm's word is asked only where that file does not come. Jobs outlive their
// runner: the next run adopts them.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { jobScript } from "@mlrb/core/ports/command-line";
import type { ExecutionRequest, Executor, Running } from "@mlrb/core/ports/executor";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import type { SlurmJob } from "@mlrb/formats/stage/slurm-job";
import { callSlurm } from "./call-slurm.ts";
import { type Held, jobsIn } from "./end-attempt-jobs.ts";
import { JobFolder } from "./job-folder.ts";
import { findJob, JobQueue, jobsOf, listJobs } from "./job-queue.ts";
import { JobRun, type Means } from "./job-run.ts";
import { isFinal } from "./job-state.ts";
import { type JobTimes, jobTimes } from "./job-times.ts";
import { sbatchArguments } from "./submission.ts";
import { Turns } from "./turns.ts";

export type SlurmExecutorOptions = {
  /** The folder of all runs' folders. */
  work: string;
  /** This run's name. */
  run: string;
  /** Absolute; the Node program that carries out the request in a job's folder. */
  program: string;
  /** Whether another run is alive: its jobs are left to it. */
  isLive: (run: string) => boolean;
  /** Takes a job of a dead run, for good; false if another living run has it. */
  take: (run: string, job: string) => boolean;
  env?: NodeJS.ProcessEnv;
  times?: Partial<JobTimes>;
};

export class SlurmExecutor implements Executor {
  readonly name = "slurm";
  readonly retries = 3;
  readonly #options: SlurmExecutorOptions;
  readonly #means: Means;
  #last = 0;
  /** The jobs of dead runs. */
  #left: Held[] | undefined;

  constructor(options: SlurmExecutorOptions) {
    this.#options = options;
    const env = options.env ?? process.env;
    const times = { ...jobTimes, ...options.times };
    const queue = new JobQueue({ env, intervalMs: times.intervalMs });
    const submissions = new Turns(8); // a host that submits is shared
    this.#means = { env, times, queue, submissions };
  }

  start(request: ExecutionRequest): Running {
    const { run, work, program } = this.#options;
    const { id: stage, key, log, limits } = request;
    const name = String(++this.#last);
    const job: SlurmJob = { formatVersion: 1, run, job: name, stage, key, work: request.work, log };
    const there = onNode(request, name, run);
    const folder = JobFolder.make(join(work, run), job, there);
    const submission = async () => ({
      args: sbatchArguments({ request, run, comment: `${name} ${stage}`, output: folder.output }),
      script: jobScript([process.execPath, ...nodeFlags, program, folder.path]),
    });
    return new JobRun({ ...this.#means, folder, job, limits, submission });
  }

  async adopt(key: string): Promise<{ work: string; running: Running } | undefined> {
    const left = this.#leftJobs();
    // the last of several: the earlier ones were lost
    const own = left
      .filter(({ job }) => job.key === key)
      .sort((a, b) => Number(b.job.job) - Number(a.job.job));
    for (const found of own) {
      left.splice(left.indexOf(found), 1);
      const { job } = found;
      if (!this.#options.take(job.run, job.job)) continue;
      if (await this.#isWorthAdopting(found))
        return { work: job.work, running: new JobRun({ ...this.#means, ...found, limits: {} }) };
      left.push(found);
    }
    return undefined;
  }

  /** Cancels the jobs of dead runs that were not adopted; false if one may still be running. */
  async clearLeft(): Promise<boolean> {
    const { env } = this.#means;
    // taken before it is given up: no other run can then adopt it
    const left = this.#leftJobs().filter(
      ({ folder, job: { run, job } }) => !folder.done() && this.#options.take(run, job),
    );
    const begun = left.filter(({ folder }) => !folder.giveUp());
    const runs = [...new Set(left.map(({ job }) => job.run))];
    if (runs.length === 0) return true;
    for (const { folder } of begun) folder.end("USR2");
    const signs = new Map<JobFolder, { beat: string; rounds: number }>();
    for (let round = 0; round < 60; round++) {
      const jobs = await listJobs(runs, env);
      if (!Array.isArray(jobs)) return begun.every(({ folder }) => folder.done()); // others never begin
      const going = left.flatMap(({ job: { run, job }, folder }) => {
        const own = jobsOf(jobs, { run, job, id: folder.id() });
        return own.flatMap(({ id, state }) => (isFinal(state) ? [] : [id]));
      });
      if (going.length > 0) await callSlurm("scancel", going, { env });
      else if (!begun.some(({ folder }) => maySurvive(folder, signs))) return true;
      await sleep(1_000);
    }
    return false;
  }

  async #isWorthAdopting({ folder, job: { run, job } }: Held): Promise<boolean> {
    const done = folder.done();
    if (done) return done.result.kind === "succeeded";
    const jobs = await listJobs([run], this.#means.env);
    const found = Array.isArray(jobs) ? findJob(jobs, { run, job, id: folder.id() }) : undefined;
    // of a job that Slurm does not list now: one that has begun may live, and another never begins
    if (!found) return !folder.giveUp();
    return !isFinal(found.state) || found.state === "completed";
  }

  /** Each for one caller only. */
  #leftJobs(): Held[] {
    const { work, run, isLive } = this.#options;
    this.#left ??= readdirSync(work)
      .filter((name) => name !== run && !isLive(name))
      .flatMap((name) => jobsIn(join(work, name)));
    return this.#left;
  }
}

/** Whether a job that Slurm does not list may live: its last sign of life is not older than a few rounds. */
function maySurvive(folder: JobFolder, signs: Map<JobFolder, { beat: string; rounds: number }>): boolean {
  if (folder.done()) return false;
  const beat = folder.beat();
  const last = signs.get(folder);
  const rounds = last?.beat === beat ? last.rounds + 1 : 0;
  signs.set(folder, { beat, rounds });
  return rounds < 5;
}

/** The request as its job carries it out: no process is warm there, and the next run may adopt the job. */
function onNode({ preload: _, ...request }: ExecutionRequest, job: string, run: string): ExecutionRequest {
  return { ...request, token: `mlrb-slurm:${run}:${job}:` };
}
