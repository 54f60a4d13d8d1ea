// The jobs of one attempt, in its own folder: they outlive the run that began them, and the process that follows them. One
// job at a time holds the attempt. Its model calls go through the relay of this process.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest, Place, Running } from "@mlrb/core/ports/executor";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { placeholderOf, type RelayRoute } from "@mlrb/core/ports/relay";
import { formatDuration } from "@mlrb/core/text/units";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import type { SlurmJob } from "@mlrb/formats/stage/slurm-job";
import { giveToJob, jobVariable } from "@mlrb/kit/attempts/attempt-claim";
import { callSlurm } from "./call-slurm.ts";
import { JobFolder } from "./job-folder.ts";
import { JobQueue } from "./job-queue.ts";
import { JobRun, type JobRunOptions, type Sbatch } from "./job-run.ts";
import { type JobTimes, jobTimes } from "./job-times.ts";
import { awaitPartitionLimit, closingMs, jobsInARow } from "./partition-limit.ts";
import { RelayChannel } from "./relay/relay-channel.ts";
import { RelayServer } from "./relay/relay-server.ts";
import { jobScript, sbatchArguments } from "./submission.ts";
import { Turns } from "./turns.ts";

export type AttemptJobOptions = {
  /** The attempt's; its name is also the name of its jobs. */
  folder: string;
  name: string;
  /** Absolute; the Node program that carries out the request in a job's folder. */
  program: string;
  /** Values by name. They stay in this process. */
  secrets: Record<string, string>;
  routes: RelayRoute[];
  /** How long the attempt may still take by its budget, ms. */
  wantedMs: number;
  /** How long its earlier jobs have run, ms. */
  ranMs?: number;
  env?: NodeJS.ProcessEnv;
  times?: Partial<JobTimes>;
};

export type AttemptJob = Running & {
  began: Promise<Place>;
  /** New values of secrets, for the calls from now on. */
  take(secrets: Record<string, string>): void;
  /** Why the attempt goes on in another job; undefined where the end of this job is its own. Known once it has ended. */
  brokenOff(): string | undefined;
};

/** Submits the next job. Earlier ones are kept from beginning or going on. */
export async function submitAttemptJob(
  request: ExecutionRequest,
  options: AttemptJobOptions,
): Promise<AttemptJob> {
  const { folder: path, name, program, env = process.env } = options;
  const wantedMs = Math.min(options.wantedMs, leftOfLimit(request, options) + limitMarginMs);
  const earlier = jobsIn(path);
  for (const one of earlier) await endForGood(one, env);
  const number = String(Math.max(0, ...earlier.map(({ job }) => Number(job.job))) + 1);
  const { id: stage, key, work, log } = request;
  const job: SlurmJob = { formatVersion: 1, run: name, job: number, stage, key, work, log };
  giveToJob(path, number);
  const there = onNode(request, number, options);
  const folder = JobFolder.make(path, job, there);
  const submission = async (signal: AbortSignal): Promise<Sbatch> => {
    const limitMs = await awaitPartitionLimit(request.booked?.slurm?.partition, {
      ...{ env, signal, times: { ...jobTimes, ...options.times } },
      waits: (why) => appendFileSync(log, `mlrb: waits: ${why}\n`),
    });
    const isCut = limitMs !== undefined && limitMs < wantedMs;
    const jobMs = isCut ? limitMs : wantedMs;
    // waits for a provider or a person may fill any job's time
    folder.takes({ ...there, turnMs: jobMs - closingMs(jobMs) });
    if (isCut) {
      const words = `its partition ends jobs after ${formatDuration(limitMs)}: at least ${jobsInARow(wantedMs, limitMs)} jobs in a row`;
      appendFileSync(log, `mlrb: ${words}\n`);
    }
    const comment = `${number} ${stage}`;
    return {
      args: sbatchArguments({ request: there, jobMs, run: name, comment, output: folder.output }),
      script: jobScript([process.execPath, ...nodeFlags, program, folder.path]),
    };
  };
  return follow({ job, folder }, options, submission);
}

function leftOfLimit({ limits }: ExecutionRequest, { ranMs = 0 }: AttemptJobOptions): number {
  return limits.timeMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, limits.timeMs - ranMs);
}

/** The job goes on beyond the stage's limit, which the node holds: otherwise it would close before, and go on in another. */
const limitMarginMs = 300_000;

/** The job that an earlier process submitted and that may be queued or running; undefined if there is none. */
export function adoptAttemptJob(options: AttemptJobOptions): AttemptJob | undefined {
  const open = jobsIn(options.folder).find(({ folder }) => folder.isOpen());
  return open && follow(open, options);
}

type Held = { job: SlurmJob; folder: JobFolder };

function jobsIn(path: string): Held[] {
  return JobFolder.of(path).flatMap((folder) => {
    const job = folder.job();
    return job ? [{ job, folder }] : [];
  });
}

/** The request as its job carries it out: secrets are placeholders there. */
function onNode(
  { preload: _, ...request }: ExecutionRequest,
  job: string,
  { name, secrets, ranMs = 0 }: AttemptJobOptions,
): ExecutionRequest {
  const env: Record<string, string> = { ...request.env, [jobVariable]: job };
  for (const secret of Object.keys(secrets)) env[secret] = placeholderOf(name, secret);
  return { ...request, env, relay: true, ranMs };
}

function follow(
  { job, folder }: Held,
  { name, routes, secrets, env = process.env, times: some }: AttemptJobOptions,
  submission?: JobRunOptions["submission"],
): AttemptJob {
  const times = { ...jobTimes, ...some };
  const queue = new JobQueue({ env, intervalMs: times.intervalMs });
  // limits of the attempt are held on the node; what ends the job before is Slurm's
  const run = new JobRun({
    ...{ folder, job, env, queue, times, limits: {}, submissions: new Turns(1) },
    ...(submission && { submission }),
  });
  const server = new RelayServer({ attempt: name, routes, secrets });
  let channel: RelayChannel | undefined;
  let isOver = false;
  let asked = false;
  let broken: string | undefined;
  void run.began.then((place) => {
    const { relay } = folder.begun() ?? {};
    if (isOver || routes.length === 0 || relay === undefined) return;
    const broke = (detail: string) => run.say(`the channel of model calls to ${place.node} broke: ${detail}`);
    channel = new RelayChannel({ server, job: place.job, socket: relay, env, broke });
  });
  const ended = (async () => {
    const result = await run.ended;
    isOver = true;
    await channel?.close();
    if (!asked) broken = whyBroken(result, { job, folder });
    if (broken !== undefined) folder.end("USR2");
    return result;
  })();
  return {
    ...{ ended, began: run.began, take: (more) => server.take(more), brokenOff: () => broken },
    askToEnd() {
      asked = true;
      run.askToEnd();
    },
    kill() {
      asked = true;
      run.kill();
    },
  };
}

/**
 * The machine's failures, the end of a job's time, and a refusal of a later job: the work before it is paid. What the
 * stage itself reported is the attempt's own end, as is a job that a person cancelled.
 */
function whyBroken(result: ExecutionResult, { job, folder }: Held): string | undefined {
  const done = folder.done();
  const isOwn = done !== undefined && done.result.kind !== "cancelled";
  const isRefused = job.job !== "1" && folder.id() === undefined;
  if (result.kind === "failed" && result.cause === "operator" && isRefused) return result.detail;
  if (result.kind !== "failed" || (isOwn && done.result.kind === "failed" && done.result.cause !== "machine"))
    return undefined;
  return result.cause === "machine" || result.cause === "time-limit" ? result.detail : undefined;
}

/** Ends the jobs of an attempt that no process follows. Those that run get a while for it. */
export async function endAttemptJobs(
  path: string,
  { env = process.env, patienceMs = 15_000 }: { env?: NodeJS.ProcessEnv; patienceMs?: number } = {},
): Promise<void> {
  const open = jobsIn(path).filter(({ folder }) => folder.isOpen());
  for (const one of open) await endForGood(one, env);
  const until = performance.now() + patienceMs;
  const isRunning = ({ folder }: Held) => folder.begun() !== undefined && folder.done() === undefined;
  while (open.some(isRunning) && performance.now() < until) await sleep(200);
}

async function endForGood({ folder }: Held, env: NodeJS.ProcessEnv): Promise<void> {
  if (!folder.isOpen()) return;
  folder.giveUp();
  folder.end("USR2");
  const id = folder.id();
  if (id !== undefined) await callSlurm("scancel", [id], { env });
}
