// Submits a job until Slurm has it. A call that failed may have reached Slurm: the next one looks first.
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { callSlurm, type SlurmAnswer } from "./call-slurm.ts";
import type { JobFolder } from "./job-folder.ts";
import { findJob, listJobs, type WatchedJob } from "./job-queue.ts";
import { isFinal } from "./job-state.ts";
import { askedOf } from "./submission.ts";
import type { Turns } from "./turns.ts";

type Submitting = {
  env: NodeJS.ProcessEnv;
  folder: JobFolder;
  submissions: Turns;
  times: { intervalMs: number; patienceMs: number };
  watched: WatchedJob;
  /** Whether the job was asked to end. */
  isAsked: () => boolean;
  log(text: string): void;
  waits(reason: string): void;
};

/** The id of the job, or the end of a job that was not submitted. */
export async function submitJob(
  { args, script }: { args: string[]; script: string },
  { env, folder, submissions, times, watched, isAsked, log, waits }: Submitting,
): Promise<string | ExecutionResult> {
  const call = () => callSlurm("sbatch", args, { env, input: script });
  const begin = performance.now();
  await sleep(0); // its caller may ask it to end at once
  for (let tried = 0; ; tried++) {
    if (isAsked() && folder.giveUp()) return { kind: "cancelled" };
    const known = tried === 0 ? undefined : await findSubmitted(watched, folder, env);
    const answer: SlurmAnswer = known ?? (await submissions.run(call));
    switch (answer.kind) {
      case "ok":
        return answer.text.trim().split("\n").at(-1)!.split(";")[0]!; // ID;CLUSTER
      case "refused": {
        const detail = `Slurm refuses its job: ${answer.detail} (it asks for ${askedOf(args)})`;
        log(detail);
        return { kind: "failed", cause: "operator", detail };
      }
      case "no-program":
        log(answer.detail);
        return { kind: "failed", cause: "machine", detail: answer.detail };
      case "full":
        waits(answer.detail);
        break;
      case "away":
        waits(`Slurm does not answer: ${answer.detail}`);
        if (performance.now() - begin > times.patienceMs && folder.giveUp()) {
          const detail = `its job could not be submitted: ${answer.detail}`;
          return { kind: "failed", cause: "machine", detail };
        }
    }
    await sleep(Math.min(times.intervalMs, 1000 * 2 ** tried));
  }
}

/** The answer of a submission that has reached Slurm, or the news that Slurm cannot say so now. */
async function findSubmitted(
  watched: WatchedJob,
  folder: JobFolder,
  env: NodeJS.ProcessEnv,
): Promise<SlurmAnswer | undefined> {
  const begun = folder.begun();
  if (begun) return { kind: "ok", text: begun.id };
  const jobs = await listJobs([watched.run], env);
  if (!Array.isArray(jobs)) return { kind: "away", detail: jobs.detail };
  const found = findJob(jobs, watched);
  return found && !isFinal(found.state) ? { kind: "ok", text: found.id } : undefined;
}
