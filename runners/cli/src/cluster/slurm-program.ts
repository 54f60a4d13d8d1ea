// Where the program of Slurm jobs is, and the supervisor of attempts on a cluster. Importing one would start it.
import { join } from "node:path";

/** Absolute; on a node at the same path. */
export const slurmProgram: string = join(import.meta.dirname, "slurm-job.ts");

/** Absolute. */
export const slurmSupervisor: string = join(import.meta.dirname, "slurm-supervisor.ts");
