// Whether an attempt is still its supervisor's. With `--take-over` another host may continue an attempt whose
// first host was only cut off: from then on the first supervisor must send nothing and write nothing.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "../json-file.ts";

/** In the attempt's folder: names the process that supervises it. */
export const claimFile = "supervisor.json";

/** Remembers the claim as it is now. The returned function says whether it is unchanged. */
export function heldClaim(folder: string): () => boolean {
  const own = claimIn(folder);
  return () => own === undefined || claimIn(folder, own) === own;
}

/** Names the job of an attempt on a cluster, in the environment of the attempt's step. */
export const jobVariable = "MLRB_ATTEMPT_JOB";

/** In the attempt's folder: the number of the job that holds the attempt. */
const jobFile = "job";

/** From now on the steps of earlier jobs send nothing and write nothing. */
export function giveToJob(folder: string, job: string): void {
  writeWhole(join(folder, jobFile), job);
}

/**
 * For the attempt's step. On a cluster its job is compared and not the supervisor: that is a process of another
 * host, and another one may take its place while the job goes on.
 */
export function stepClaim(folder: string, job = process.env[jobVariable]): () => boolean {
  return job === undefined ? heldClaim(folder) : () => claimIn(folder, job, jobFile) === job;
}

/** Undefined without a claim; `otherwise` after a temporary problem of a disk or a file server. */
function claimIn(folder: string, otherwise?: string, file = claimFile): string | undefined {
  try {
    return readFileSync(join(folder, file), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ESTALE" ? undefined : otherwise;
  }
}
