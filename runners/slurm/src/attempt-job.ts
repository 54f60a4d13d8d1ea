// The jobs of one attempt, in its own folder: they outlive the run that began them, and the process that follows
// them. One job at a time holds the attempt. Its model calls go through the relay of this process.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { jobScript } from "@mlrb/core/ports/command-line";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { placeholderOf } from "@mlrb/core/ports/relay";
import { formatDuration } from "@mlrb/core/text/units";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import type { SlurmJob } from "@mlrb/formats/stage/slurm-job";
import { giveToJob, jobVariable } from "@mlrb/kit/attempts/attempt-claim";
import { quiet } from "@mlrb/kit/processes/process-table";
import { endForGood, type Held, jobsIn } from "./end-attempt-jobs.ts";
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
  /** How long the attempt may still take by its budget, ms. */
  wantedMs: number;
  /** How long its earlier jobs have run, ms. */
  ranMs?: number;
  /** Why the job before it ended. */
  after?: string;
  env?: NodeJS.ProcessEnv;
  times?: Partial<JobTimes>;
};

export type AttemptJob = ReturnType<typeof follow>;

/** Submits the next job. Earlier ones are kept from beginning or going on. */
export async function submitAttemptJob(
  request: ExecutionRequest,
  options: AttemptJobOptions,
): Promise<AttemptJob> {
  const { folder: path, name, program, after, env = process.env } = options;
  const wantedMs = Math.min(options.wantedMs, leftOfLimit(request, options) + limitMarginMs);
  const earlier = jobsIn(path);
  const stageLog = new StageLog(request.log);
  for (const one of earlier) {
    const trouble = await endForGood(one, env);
    if (trouble !== undefined) stageLog.say(trouble);
  }
  const number = String(Math.max(0, ...earlier.map(({ job }) => Number(job.job))) + 1);
  const { id: stage, key, work, log } = request;
  const job: SlurmJob = {
    ...{ formatVersion: 1, run: name, job: number, stage, key, work, log },
    ...(after !== undefined && { after }),
  };
  giveToJob(path, number);
  const there = onNode(request, number, options);
  const folder = JobFolder.make(path, job, there);
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
    const args = sbatchArguments({ request: there, jobMs, run: name, comment, output: folder.output });
    return { args, script: jobScript([process.execPath, ...nodeFlags, program, folder.path]) };
  };
  return follow({ job, folder }, options, submission);
}

function leftOfLimit({ limits }: ExecutionRequest, { ranMs = 0 }: AttemptJobOptions): number {
  return limits.timeMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, limits.timeMs - ranMs);
}

/** The job goes on beyond the stage's limit, which the node holds: otherwise it would close before, and go on in another. */
const limitMarginMs = 300_000;

/** The job that an earlier process submitted and whose end it has not learned; undefined if there is none. */
export function adoptAttemptJob(options: AttemptJobOptions): AttemptJob | undefined {
  const open = jobsIn(options.folder).find(({ folder }) => folder.isOpen());
  return open && follow(open, options);
}

/** The request as its job carries it out: secrets are placeholders there. */
function onNode(
  { preload: _, ...request }: ExecutionRequest,
  job: string,
  { name, secrets, ranMs = 0 }: AttemptJobOptions,
): ExecutionRequest {
  const env: Record<string, string> = { ...request.env, [jobVariable]: job };
  for (const secret of secrets) env[secret] = placeholderOf(name, secret);
  return { ...request, env, relay: true, ranMs };
}

function follow(
  { job, folder }: Held,
  { relay, env = process.env, times: some }: AttemptJobOptions,
  submission?: JobRunOptions["submission"],
) {
  const times = { ...jobTimes, ...some };
  const queue = new JobQueue({ env, intervalMs: times.intervalMs });
  // limits of the attempt are held on the node; what ends the job before is Slurm's
  const run = new JobRun({
    ...{ folder, job, env, queue, times, limits: {}, submissions: new Turns(1) },
    ...(submission && { submission }),
  });
  let channel: RelayChannel | undefined;
  let isOver = false;
  void run.began.then((place) => {
    const socket = folder.begun()?.relay;
    if (!relay || isOver || socket === undefined) return;
    const broke = (detail: string) =>
      new StageLog(job.log).say(`the channel to ${place.node} broke: ${detail}`);
    channel = new RelayChannel({ server: relay, env, job: place.job, socket, broke });
  });
  let asked = false;
  let broken: string | undefined;
  const ended = (async () => {
    const result = await run.ended;
    isOver = true;
    await channel?.close();
    if (!asked) broken = whyBroken(result, { job, folder });
    folder.end("USR2"); // its end is known
    return result;
  })();
  const ask = (how: "askToEnd" | "kill") => () => {
    asked = true;
    run[how]();
  };
  return {
    ...{ ended, began: run.began },
    /** Why the attempt goes on in another job; undefined where the end of this job is its own. Known once it has ended. */
    brokenOff: () => broken,
    /** Whether it ended because its time was over, as was planned. */
    hadItsTurn: () => folder.done()?.continues === true,
    /** Whether its stage succeeded: its outputs may still be on their way. */
    hasSucceeded: () => folder.done()?.result.kind === "succeeded",
    /** What it carries out, with placeholders as secrets; undefined once the job has removed it. */
    request: () => folder.request(),
    askToEnd: ask("askToEnd"),
    kill: ask("kill"),
  };
}

/**
 * The machine's failures, the end of a job's time, and a refusal after earlier work, which is paid. What the
 * stage itself reported is the attempt's own end, as is a job that a person cancelled.
 */
function whyBroken(result: ExecutionResult, { job, folder }: Held): string | undefined {
  if (result.kind !== "failed") return undefined;
  const { cause, detail } = result;
  const reported = folder.done()?.result;
  const own = reported?.kind === "failed" ? reported.cause : undefined;
  const isLater = job.job !== "1";
  if (cause === "operator" && folder.id() === undefined && (isLater || hasWork(job))) return detail;
  // the node refused a later job before its step began
  if (own === "operator" && isLater) return detail;
  if (own === "exit-code" && hasWork(job)) {
    // this node had no sandbox for the agent; another may have one
    const trouble = quiet(() => JSON.parse(readFileSync(join(job.work, "trouble.json"), "utf8"))); // none, or torn
    if (trouble?.begun === "no") return String(trouble.detail);
  }
  if (own !== undefined && own !== "machine") return undefined;
  return cause === "machine" || cause === "time-limit" ? detail : undefined;
}

/** Whether the attempt did something before: on the host that submits. */
function hasWork({ work }: SlurmJob): boolean {
  return (statSync(join(work, "out/trajectory.jsonl"), { throwIfNoEntry: false })?.size ?? 0) > 0;
}
