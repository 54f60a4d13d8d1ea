// Where the program of Slurm jobs is. Importing it would start it.
import { join } from "node:path";

/** Absolute; on a node at the same path. */
export const slurmProgram: string = join(import.meta.dirname, "slurm-job.ts");
