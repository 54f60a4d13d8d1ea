// The folders of an attempt's jobs on a cluster, one for each job.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TypeOf } from "@mlrb/formats/schema";
import type { slurmEnd } from "@mlrb/formats/stage/slurm-job";
import { writeJson } from "../json-file.ts";
import { quiet } from "../processes/process-table.ts";

/** In the attempt's folder. */
export const jobsFolder = "jobs";

/**
 * Whether a job may be queued or running: it wrote no end, was not given up, and was not to be killed. Also a job
 * that ended otherwise than by success or its time, until a supervisor has learned how: only Slurm may know that a
 * person cancelled it.
 */
export function isOpenJob(job: string): boolean {
  if (!existsSync(join(job, "job.json"))) return false;
  const { signal } = fieldsOf(join(job, "end.json"));
  if (existsSync(join(job, "done.json"))) {
    const { result, continues } = fieldsOf(join(job, "done.json"));
    const { kind } = Object(result) as { kind?: unknown };
    return (kind === "cancelled" || kind === "failed") && continues !== true && signal === undefined;
  }
  return signal !== "USR2" && fieldsOf(join(job, "claim.json")).kind !== "given-up";
}

/** Whether an attempt has such a job. The files of the attempt are the job's then. */
export function hasOpenJob(attempt: string): boolean {
  return jobFolders(attempt).some(isOpenJob);
}

/** Of an attempt that a person resumes: how its ended jobs ended does not matter any more. */
export function closeEndedJobs(attempt: string): void {
  for (const job of jobFolders(attempt))
    if (isOpenJob(job) && existsSync(join(job, "done.json")))
      writeJson(join(job, "end.json"), { formatVersion: 1, signal: "USR2" } satisfies TypeOf<
        typeof slurmEnd
      >);
}

/** A job of an attempt. `after`: why the job before it ended, if the same supervisor submitted both. */
export type JobOfAttempt = {
  number: number;
  isOpen: boolean;
  after?: string;
  /** Set once it has begun: its node, and Slurm's id. */
  place?: { node: string; job: string };
};

/** In the order of their submission. */
export function jobsOfAttempt(attempt: string): JobOfAttempt[] {
  const jobs = jobFolders(attempt).flatMap((folder): JobOfAttempt[] => {
    const { job, after } = fieldsOf(join(folder, "job.json"));
    if (typeof job !== "string") return [];
    const { kind, node, id } = fieldsOf(join(folder, "claim.json"));
    const begun = kind === "begun" && { place: { node: String(node), job: String(id) } };
    const isOpen = isOpenJob(folder);
    return [{ number: Number(job), isOpen, ...(typeof after === "string" && { after }), ...begun }];
  });
  return jobs.sort((one, other) => one.number - other.number);
}

/** The claims, which begin as their jobs do and are touched while these run. */
export function claimsOfJobs(attempt: string): string[] {
  const claims = jobFolders(attempt).map((folder) => join(folder, "claim.json"));
  return claims.filter((claim) => fieldsOf(claim).kind === "begun");
}

export function jobFolders(attempt: string): string[] {
  const jobs = join(attempt, jobsFolder);
  return existsSync(jobs) ? readdirSync(jobs).map((name) => join(jobs, name)) : [];
}

/** Without any where the file is missing or torn. */
function fieldsOf(path: string): Record<string, unknown> {
  return Object(quiet(() => JSON.parse(readFileSync(path, "utf8")))) as Record<string, unknown>;
}
