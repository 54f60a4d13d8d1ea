// Finds the newest checkpoint of an attempt whose node shares no disk with this host: it is a parcel in the remote cache.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readFormat } from "@mlrb/formats/read-format";
import { type CheckpointParcel, checkpointParcel as format } from "@mlrb/formats/stage/attempt-state";

/** In the attempt's folder. */
export const checkpointParcelFile = "checkpoint-parcel.json";

/** In the folder of a job: marks one whose files travel. */
export const travelsFile = "travels.json";

/** Undefined if no checkpoint has reached the cache. */
export function checkpointParcel(folder: string): CheckpointParcel | undefined {
  const file = join(folder, checkpointParcelFile);
  const reading = existsSync(file) ? readFormat(format, readFileSync(file, "utf8")) : undefined;
  return reading?.kind === "ok" ? reading.value : undefined;
}

/** Whether a job of the attempt has run, or may, on a node that shares no disk with this host. */
export function hasTravelled(folder: string): boolean {
  const jobs = join(folder, "jobs");
  return existsSync(jobs) && readdirSync(jobs).some((job) => existsSync(join(jobs, job, travelsFile)));
}
