// Submits one job, also where the answer of a submission is lost: before each repetition it looks whether Slurm
// has the job.
import { setTimeout as sleep } from "node:timers/promises";
import { unreachable } from "@mlrb/core/ports/outcome";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import type { SlurmJob } from "@mlrb/formats/stage/slurm-job";
import { callSlurm, type SlurmAnswer } from "./call-slurm.ts";
import type { JobFolder } from "./job-folder.ts";
import { findJob, listJobs } from "./job-queue.ts";
import { isFinal } from "./job-state.ts";
import type { JobTimes } from "./job-times.ts";
import type { StageLog } from "./stage-log.ts";
import { askedOf } from "./submission.ts";
import type { Turns } from "./turns.ts";

/** One call of `sbatch`. */
export type Sbatch = { args: string[]; script: string };

export type Submitting = {
  folder: JobFolder;
  job: SlurmJob;
  env: NodeJS.ProcessEnv;
  submissions: Turns;
  times: JobTimes;
  /** Whether the job was asked to end. */
  isAsked(): boolean;
  /** Gives the job up unless it has begun. */
  isGivenUp(): boolean;
  log: StageLog;
};

/** Without an id the job has begun, and its folder has the id. Otherwise nothing of it goes on. */
export type Submitted = { kind: "submitted"; id?: string } | ExecutionResult;

/** `prepare` makes the submission; it rejects where the machine fails. */
export async function submitJob(prepare: () => Promise<Sbatch>, submitting: Submitting): Promise<Submitted> {
  const { env, folder, submissions, times, isAsked, isGivenUp, log } = submitting;
  await sleep(0); // its caller may ask it to end at once
  const made = await prepare().catch((error: Error) => error);
  if (made instanceof Error) return unprepared(made, submitting);
  const { args, script } = made;
  const begin = performance.now();
  const call = () => callSlurm("sbatch", args, { env, input: script });
  for (let tried = 0; ; tried++) {
    if (isAsked() && isGivenUp()) return { kind: "cancelled" };
    const known = tried === 0 ? undefined : await findSubmitted(submitting);
    const answer: SlurmAnswer = known ?? (await submissions.run(call));
    const { kind } = answer;
    switch (kind) {
      case "ok":
        return { kind: "submitted", id: answer.text.trim().split("\n").at(-1)!.split(";")[0]! }; // ID;CLUSTER
      case "refused": {
        if (!isGivenUp() && folder.begun()) return { kind: "submitted" }; // an error came after it
        const detail = `Slurm refuses its job: ${answer.detail} (it asks for ${askedOf(args)})`;
        return failed("operator", detail, submitting);
      }
      case "no-program":
        return failed("machine", answer.detail, submitting);
      case "full":
        log.waits(answer.detail);
        break;
      case "away":
        log.waits(`Slurm does not answer: ${answer.detail}`);
        if (performance.now() - begin > times.patienceMs && isGivenUp()) {
          const detail = `its job could not be submitted: ${answer.detail}`;
          return { kind: "failed", cause: "machine", detail };
        }
        break;
      default:
        return unreachable(kind);
    }
    await sleep(Math.min(times.intervalMs, 1000 * 2 ** tried));
  }
}

/** Nothing of it has reached Slurm. */
function unprepared({ message }: Error, submitting: Submitting): ExecutionResult {
  submitting.isGivenUp();
  return submitting.isAsked() ? { kind: "cancelled" } : failed("machine", message, submitting);
}

/** The answer of a submission that has reached Slurm, or the news that Slurm cannot say so now. */
async function findSubmitted({ env, folder, job }: Submitting): Promise<SlurmAnswer | undefined> {
  const begun = folder.begun();
  if (begun) return { kind: "ok", text: begun.id };
  const jobs = await listJobs([job.run], env);
  if (!Array.isArray(jobs)) return { kind: "away", detail: jobs.detail };
  const found = findJob(jobs, { run: job.run, job: job.job, id: folder.id() });
  return found && !isFinal(found.state) ? { kind: "ok", text: found.id } : undefined;
}

function failed(cause: "operator" | "machine", detail: string, { log }: Submitting): ExecutionResult {
  log.say(detail);
  return { kind: "failed", cause, detail };
}
