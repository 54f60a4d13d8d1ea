// How long the runner of a job waits for what.

export const jobTimes = {
  /** Between two questions about all jobs. */
  intervalMs: 5_000,
  /** How long a file of the job may appear after Slurm says that the job has ended. */
  lateMs: 60_000,
  /** How long a job that was asked to end may take before Slurm ends it. */
  graceMs: 15_000,
  /** How long a job that has begun, and that Slurm does not know, may give no sign of life before it is given up. */
  silentMs: 60_000,
  /** How long Slurm may not answer before a job that did not begin is given up. */
  patienceMs: 600_000,
};

export type JobTimes = typeof jobTimes;
