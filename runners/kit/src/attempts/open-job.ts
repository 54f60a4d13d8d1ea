// The folders of an attempt's jobs on a cluster, one for each job.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** In the attempt's folder. */
export const jobsFolder = "jobs";

/** Whether a job may be queued or running: it wrote no end, was not given up, and was not to be killed. */
export function isOpenJob(job: string): boolean {
  if (!existsSync(join(job, "job.json")) || existsSync(join(job, "done.json"))) return false;
  return !says(join(job, "end.json"), /"signal": *"USR2"/) && !says(join(job, "claim.json"), /"given-up"/);
}

/** Whether an attempt has such a job. The files of the attempt are the job's then. */
export function hasOpenJob(attempt: string): boolean {
  const jobs = join(attempt, jobsFolder);
  return existsSync(jobs) && readdirSync(jobs).some((name) => isOpenJob(join(jobs, name)));
}

/** The node, the id and the claim's path of each job that has begun. */
export function jobsBegun(attempt: string): { node: string; job: string; claim: string }[] {
  const jobs = join(attempt, jobsFolder);
  if (!existsSync(jobs)) return [];
  return readdirSync(jobs).flatMap((name) => {
    const claim = join(jobs, name, "claim.json");
    if (!says(claim, /"kind": *"begun"/)) return [];
    const { node, id } = JSON.parse(readFileSync(claim, "utf8")) as { node: string; id: string };
    return [{ node, job: id, claim }];
  });
}

function says(path: string, words: RegExp): boolean {
  try {
    return words.test(readFileSync(path, "utf8"));
  } catch {
    return false;
  }
}
