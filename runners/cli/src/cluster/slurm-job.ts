// The program of a Slurm job. Usage: `node slurm-job.ts FOLDER`. TERM asks the stage to end, USR2 kills it; both
// end its whole process tree. end.json in FOLDER says the same without Slurm, and a job whose folder is gone is
// killed.
import { runSlurmJob } from "@mlrb/local/process/run-slurm-job";

const [, , folder] = process.argv;
await runSlurmJob(folder!);
