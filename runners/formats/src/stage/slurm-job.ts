// The files in the folder of one Slurm job. The runner writes job.json before it submits the job, and id.json
// afterwards. The job writes claim.json at its start, moves that file's time while it lives, and writes done.json
// at its end. The runner writes end.json to end the job, also where Slurm does not answer.
import * as t from "../schema.ts";
import { executionResult } from "./outcome.ts";

const formatVersion = { const: 1 } as const;

/** From it a later run knows the job of a dead run, and can wait for the job in that run's place. */
export const slurmJob = t.wholeExcept(["after"], {
  formatVersion,
  run: t.about(t.anyText, "its runner; also the name of the job"),
  job: t.about(t.anyText, "unique; begins the job's comment"),
  stage: t.anyText,
  key: t.anyText,
  work: t.anyText,
  log: t.anyText,
  after: t.about(t.anyText, "why the job before it ended, whose attempt it continues"),
});
export type SlurmJob = t.TypeOf<typeof slurmJob>;

/** As Slurm answered. A job without it may have been submitted. */
export const slurmId = t.wholeObject({ formatVersion, id: t.anyText });

/** Created once, by the job or by its runner: a job that its runner gave up never begins, and no job begins twice. */
export const slurmClaim = t.kindsOf(
  t.wholeExcept(["relay"], {
    ...{ kind: { const: "begun" } as const, formatVersion, id: t.anyText, host: t.anyText, node: t.anyText },
    relay: t.about(t.anyText, "the socket on the node at which the relay of model calls listens"),
  }),
  t.variant("given-up", { formatVersion }),
);
export type SlurmClaim = t.TypeOf<typeof slurmClaim>;

/** The wish of the runner: TERM asks the stage to end, USR2 kills it. The later wish replaces the earlier. */
export const slurmEnd = t.wholeObject({ formatVersion, signal: { enum: ["TERM", "USR2"] } as const });

/** The entries of a work folder that the runner reads once the job has ended. */
export const slurmOutputs = ["out", "refusals.jsonl"] as const;

/** Written by rename, once the stage's whole process tree is dead. */
export const slurmDone = t.wholeExcept(["continues"], {
  formatVersion,
  job: t.anyText,
  id: t.anyText,
  host: t.anyText,
  node: t.anyText,
  wrote: t.about(
    t.wholeObject({ files: t.count, bytes: t.count, digest: t.sha256 }),
    "what the node sees of the outputs: their number, their bytes, and SHA-256 of their names and sizes",
  ),
  result: t.about(executionResult, "cancelled: the job got a signal, from its runner or from Slurm"),
  continues: t.about({ const: true }, "the time of the job was over, and the attempt goes on in another one"),
});
export type SlurmDone = t.TypeOf<typeof slurmDone>;
