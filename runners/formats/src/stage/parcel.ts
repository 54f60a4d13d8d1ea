// What a runner and the job of a node without a shared disk send each other through a remote cache. Files travel as
// parcels: sealed archives, found by the SHA-256 of their bytes. News travel in two slots of a job, one in each direction.
import {
  anyText,
  count,
  flag,
  jsonObject,
  kindsOf,
  listOf,
  sha256,
  type TypeOf,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { slurmClaim, slurmDone, slurmEnd, slurmJob } from "./slurm-job.ts";

const formatVersion = { const: 1 } as const;

export const parcel = wholeObject({
  digest: { ...sha256, description: "of the sealed archive, under which the cache has it" },
  bytes: count,
});
export type Parcel = TypeOf<typeof parcel>;

/** In the script of the job, which only its user and the administrators can read. */
export const parcelJob = wholeExcept(["attempt"], {
  formatVersion,
  cache: wholeObject({ url: anyText, token: { type: ["string", "null"] } as const }),
  key: { ...sha256, description: "seals and opens everything of this state folder; hexadecimal" },
  folder: { ...anyText, description: "the job's folder, on the runner's host and on the node" },
  program: {
    ...anyText,
    description: "carries out the request in the job's folder, at the same path on the node",
  },
  job: slurmJob,
  request: { ...jsonObject, description: "an ExecutionRequest" },
  work: { ...parcel, description: "the work folder without its inputs" },
  inputs: {
    type: "object",
    additionalProperties: parcel,
    description: "the entries of the work folder's `in`, by name",
  } as const,
  attempt: {
    ...wholeObject({ continues: flag, checkpoints: listOf(parcel) }),
    description: "set for an attempt; `checkpoints`: where it continues, the newest first",
  },
});
export type ParcelJob = TypeOf<typeof parcelJob>;

/** From the node: that the job has begun, again and again as a sign of life, then its end. */
export const nodeNews = kindsOf(
  wholeObject({ kind: { const: "lives" }, formatVersion, claim: slurmClaim, beat: count }),
  wholeObject({
    kind: { const: "done" },
    formatVersion,
    claim: slurmClaim,
    done: slurmDone,
    work: {
      ...parcel,
      description: "its outputs, log and refusals",
    },
  }),
  wholeObject({
    kind: { const: "refused" },
    formatVersion,
    claim: slurmClaim,
    why: anyText,
    fault: {
      enum: ["operator", "machine", "parcel"],
      description: "parcel: what the cache gave is not what the runner sent",
    } as const,
  }),
);
export type NodeNews = TypeOf<typeof nodeNews>;

/** From the runner. */
export const runnerNews = kindsOf(
  wholeObject({ kind: { const: "given-up" }, formatVersion }),
  wholeObject({ kind: { const: "end" }, formatVersion, end: slurmEnd }),
);
export type RunnerNews = TypeOf<typeof runnerNews>;
