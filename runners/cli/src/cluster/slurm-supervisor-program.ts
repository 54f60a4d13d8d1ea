// Where the supervisor of attempts on a cluster is. Importing it would start it.
import { join } from "node:path";

/** Absolute. */
export const slurmSupervisor: string = join(import.meta.dirname, "slurm-supervisor.ts");
