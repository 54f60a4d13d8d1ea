// The final state of a job that squeue does not list any more, where the cluster keeps accounts.
import { callSlurm } from "./call-slurm.ts";
import { isFinal, type JobState, jobState } from "./job-state.ts";

const options = ["--noheader", "--parsable2", "--allocations", "--duplicates", "--format=State,JobName"];

/** Undefined on a site without accounting. `run` is the name of the job: ids are used again. */
export async function accountedState(
  id: string,
  run: string,
  env: NodeJS.ProcessEnv,
): Promise<JobState | undefined> {
  const answer = await callSlurm("sacct", [...options, `--jobs=${id}`], { env });
  const state = answer.kind === "ok" ? lastState(answer.text, run) : undefined;
  return state !== undefined && isFinal(state) ? state : undefined;
}

/** Of the last job of this name in sacct's lines. The accounting keeps comments only where it is configured to. */
export function lastState(text: string, run: string): JobState | undefined {
  const line = text.split("\n").findLast((one) => one.endsWith(`|${run}`));
  return line === undefined ? undefined : jobState(line);
}
