// The deadlines for sealing an attempt when its supervisor gets SIGTERM. Container engines and job schedulers
// usually kill what is left after ten seconds; we promise five. Two processes share this budget: the stage seals,
// and its supervisor records the cause.

/** In ms after the signal. A later step starts on time even if the one before has not finished. */
export const sealTimes = {
  /** By then the agent's programs have ended and their output is read; else sealing begins without. */
  begin: 1_500,
  /** By then the submission is copied; the rest stays in the workspace, which is kept. */
  copied: 3_000,
  /** By then trajectory and ledger are sealed: the stage ends in any case. */
  exit: 3_500,
  /** A stage that still runs is killed; then its supervisor records the cause. */
  kill: 4_000,
  /** Everything is recorded. Slower work (moving files, the log) is left to the next run. */
  promised: 5_000,
} as const;
