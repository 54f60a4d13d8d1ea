// The jobs of one attempt, in its own folder: they outlive the run that began them, and the process that follows them. One
// job at a time holds the attempt. Its model calls go through the relay of this process.
import { jobScript } from "@mlrb/core/ports/command-line";
import type { ExecutionRequest, Place, Running } from "@mlrb/core/ports/executor";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { placeholderOf } from "@mlrb/core/ports/relay";
import { formatDuration } from "@mlrb/core/text/units";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import type { SlurmJob } from "@mlrb/formats/stage/slurm-job";
import { giveToJob, jobVariable } from "@mlrb/kit/attempts/attempt-claim";
import { callSlurm } from "./call-slurm.ts";
import { JobFolder } from "./job-folder.ts";
import { JobQueue } from "./job-queue.ts";
import { JobRun, type JobRunOptions } from "./job-run.ts";
import { type JobTimes, jobTimes } from "./job-times.ts";
import { awaitPartitionLimit, closingMs, jobsInARow } from "./partition-limit.ts";
import { RelayChannel } from "./relay/relay-channel.ts";
import type { RelayServer } from "./relay/relay-server.ts";
import { StageLog } from "./stage-log.ts";
import { sbatchArguments } from "./submission.ts";
import type { Sbatch } from "./submit-job.ts";
import { Turns } from "./turns.ts";

export type AttemptJobOptions = {
  /** The attempt's; its name is also the name of its jobs. */
  folder: string;
  name: string;
  /** Absolute; the Node program that carries out the request in a job's folder. */
  program: string;
  /** Their names. The values stay with the relay. */
  secrets: string[];
  /** Of model calls; undefined for an attempt without any. */
  relay: RelayServer | undefined;
  /** How long the attempt may still take, ms. */
  wantedMs: number;
  /** Why the job before it ended. */
  after?: string;
  env?: NodeJS.ProcessEnv;
  times?: Partial<JobTimes>;
};

export type AttemptJob = Running & {
  began: Promise<Place>;
  /** Why the attempt goes on in another job; undefined where the end of this job is its own. Known once it has ended. */
  brokenOff(): string | undefined;
  /** Whether it ended because its time was over, as was planned. */
  hadItsTurn(): boolean;
  /** What it carries out, with placeholders as secrets; undefined for a job of an older mlrb. */
  request(): ExecutionRequest | undefined;
};

/** Submits the next job. Earlier ones are kept from beginning or going on. */
export async function submitAttemptJob(
  request: ExecutionRequest,
  options: AttemptJobOptions,
): Promise<AttemptJob> {
  const { folder: path, name, program, wantedMs, after, env = process.env } = options;
  const earlier = jobsIn(path);
  for (const one of earlier) await endForGood(one, env);
  const number = String(Math.max(0, ...earlier.map(({ job }) => Number(job.job))) + 1);
  const { id: stage, key, work, log } = request;
  const job: SlurmJob = {
    ...{ formatVersion: 1, run: name, job: number, stage, key, work, log },
    ...(after !== undefined && { after }),
  };
  giveToJob(path, number);
  const there = onNode(request, number, options);
  const folder = JobFolder.make(path, job, there);
  const stageLog = new StageLog(log);
  const submission = async (signal: AbortSignal): Promise<Sbatch> => {
    const limitMs = await awaitPartitionLimit(request.booked?.slurm?.partition, {
      ...{ env, signal, times: { ...jobTimes, ...options.times } },
      waits: (why) => stageLog.waits(why),
    });
    const isCut = limitMs !== undefined && limitMs < wantedMs;
    const jobMs = isCut ? limitMs : wantedMs;
    // waits for a provider or a person may fill any job's time
    folder.takes({ ...there, turnMs: jobMs - closingMs(jobMs) });
    if (isCut) {
      const words = `its partition ends jobs after ${formatDuration(limitMs)}: at least ${jobsInARow(wantedMs, limitMs)} jobs in a row`;
      stageLog.say(words);
    }
    const comment = `${number} ${stage}`;
    return {
      args: sbatchArguments({ request, jobMs, run: name, comment, output: folder.output }),
      script: jobScript([process.execPath, ...nodeFlags, program, folder.path]),
    };
  };
  return follow({ job, folder }, options, submission);
}

/** The job that an earlier process submitted and whose end it has not learned; undefined if there is none. */
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
  { name, secrets }: AttemptJobOptions,
): ExecutionRequest {
  const env: Record<string, string> = { ...request.env, [jobVariable]: job };
  for (const secret of secrets) env[secret] = placeholderOf(name, secret);
  return { ...request, env, relay: true };
}

function follow(
  { job, folder }: Held,
  { relay, env = process.env, times: some }: AttemptJobOptions,
  submission?: JobRunOptions["submission"],
): AttemptJob {
  const times = { ...jobTimes, ...some };
  const queue = new JobQueue({ env, intervalMs: times.intervalMs });
  // limits of the attempt are held on the node; what ends the job before is Slurm's
  const run = new JobRun({
    ...{ folder, job, env, queue, times, limits: {}, submissions: new Turns(1) },
    ...(submission && { submission }),
  });
  let channel: RelayChannel | undefined;
  let isOver = false;
  let asked = false;
  let broken: string | undefined;
  void run.began.then((place) => {
    const { relay: socket } = folder.begun() ?? {};
    if (isOver || relay === undefined || socket === undefined) return;
    const broke = (detail: string) =>
      new StageLog(job.log).say(`the channel of model calls to ${place.node} broke: ${detail}`);
    channel = new RelayChannel({ server: relay, job: place.job, socket, env, broke });
  });
  const ended = (async () => {
    const result = await run.ended;
    isOver = true;
    await channel?.close();
    if (!asked) broken = whyBroken(result, { job, folder });
    folder.end("USR2"); // its end is known
    return result;
  })();
  return {
    ...{ ended, began: run.began, brokenOff: () => broken },
    hadItsTurn: () => folder.done()?.continues === true,
    request: () => folder.request(),
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

async function endForGood({ folder }: Held, env: NodeJS.ProcessEnv): Promise<void> {
  if (!folder.isOpen()) return;
  folder.giveUp();
  folder.end("USR2");
  const id = folder.id();
  if (id !== undefined) await callSlurm("scancel", [id], { env });
}
