// How long the runner of a job waits for what.

export type JobTimes = {
  /** Between two questions about all jobs. */
  intervalMs: number;
  /** How long a file of the job may appear after Slurm says that the job has ended. */
  lateMs: number;
  /** How long a job that was asked to end may take before Slurm ends it. */
  graceMs: number;
  /** How long a job that has begun, and that Slurm does not know, may give no sign of life before it is given up. */
  silentMs: number;
  /** How long Slurm may not answer before a job that did not begin is given up. */
  patienceMs: number;
};

export const jobTimes: JobTimes = {
  intervalMs: 5_000,
  lateMs: 60_000,
  graceMs: 15_000,
  silentMs: 60_000,
  patienceMs: 600_000,
};
