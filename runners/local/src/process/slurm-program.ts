// Where the programs of Slurm jobs are. Importing one would start it.
import { join } from "node:path";

/** Absolute; on a node at the same path. */
export const slurmProgram: string = join(import.meta.dirname, "slurm-job.ts");

/** Absolute; the program of doctor's job. */
export const slurmProbe: string = join(import.meta.dirname, "slurm-probe.ts");
