// The final state of a job that squeue does not list any more, where the cluster keeps accounts.
import { callSlurm } from "./call-slurm.ts";
import { isFinal, type JobState } from "./job-state.ts";
import { readSacct, sacctFormat } from "./read-squeue.ts";

/** Undefined on a site without accounting. `run` is the name of the job: ids are used again. */
export async function accountedState(
  id: string,
  run: string,
  env: NodeJS.ProcessEnv,
): Promise<JobState | undefined> {
  const args = ["--noheader", "--parsable2", "--allocations", "--duplicates"];
  const answer = await callSlurm("sacct", [...args, `--format=${sacctFormat}`, `--jobs=${id}`], { env });
  if (answer.kind !== "ok") return undefined;
  const state = readSacct(answer.text).findLast(({ name }) => name === run)?.state;
  return state !== undefined && isFinal(state) ? state : undefined;
}
