// Ends the jobs of an attempt for good: before its next job, and when a person stops an attempt whose supervisor
// is dead.
import { setTimeout as sleep } from "node:timers/promises";
import type { SlurmJob } from "@mlrb/formats/stage/slurm-job";
import { jobFolders } from "@mlrb/kit/attempts/open-job";
import { callSlurm } from "./call-slurm.ts";
import { JobFolder } from "./job-folder.ts";
import { jobsOf, listJobs } from "./job-queue.ts";
import { isFinal } from "./job-state.ts";

export type Held = { job: SlurmJob; folder: JobFolder };

/** Each job that a run or an attempt with this folder has submitted, or was about to. */
export function jobsIn(path: string): Held[] {
  return jobFolders(path).flatMap((jobFolder) => {
    const folder = new JobFolder(jobFolder);
    const job = folder.job();
    return job ? [{ job, folder }] : [];
  });
}

export type EndOptions = {
  env?: NodeJS.ProcessEnv;
  patienceMs?: number;
};

/**
 * Ends the jobs of an attempt that no process follows. Those that run get a while for it. Resolves with a sentence
 * for each job that a person must look at.
 */
export async function endAttemptJobs(
  path: string,
  { env = process.env, patienceMs = 15_000 }: EndOptions = {},
): Promise<string[]> {
  const open = jobsIn(path).filter(({ folder }) => folder.isOpen());
  const troubles: string[] = [];
  for (const one of open) {
    const trouble = await endForGood(one, env);
    if (trouble !== undefined) troubles.push(trouble);
  }
  const until = performance.now() + patienceMs;
  const isRunning = ({ folder }: Held) => folder.begun() !== undefined && folder.done() === undefined;
  while (open.some(isRunning) && performance.now() < until) await sleep(200);
  return troubles;
}

/** Resolves with a sentence if the job may go on, or stay in the queue. */
export async function endForGood(
  { folder, job: { run, job } }: Held,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  if (!folder.isOpen()) return undefined;
  folder.giveUp();
  folder.end("USR2");
  const id = folder.id();
  // a submitter that was killed may have left no id
  const listed = id === undefined ? await listJobs([run], env) : [];
  if (!Array.isArray(listed))
    return `a job of the attempt may be in Slurm's queue (${listed.detail}): look with \`squeue --name=${run}\`, and end it with \`scancel --name=${run}\``;
  const going = jobsOf(listed, { run, job }).filter(({ state }) => !isFinal(state));
  const ids = id === undefined ? going.map((one) => one.id) : [id];
  if (ids.length === 0) return undefined;
  const answer = await callSlurm("scancel", ids, { env });
  // Slurm forgets a job some minutes after its end
  if (answer.kind === "ok" || /invalid job id|already complet/i.test(answer.detail)) return undefined;
  return `job ${ids.join(", ")} of the attempt may go on (${answer.detail}): end it with \`scancel ${ids.join(" ")}\``;
}
