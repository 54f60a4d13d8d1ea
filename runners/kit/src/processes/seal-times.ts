// The time there is for what an attempt leaves when its supervisor is told to end (SIGTERM). Whoever stops a container
// or a job kills what is left after ten seconds as a rule; five are promised. Two processes share this one budget: the
// stage seals, and its supervisor says why.

/** From the signal on, in ms. A later step begins on time even where the one before has not come to its end. */
export const sealTimes = {
  /** The agent's programs are ended and heard to their end by then; else the seal begins without that. */
  begin: 1_500,
  /** The submission is copied by then; what is not is in the workspace, which is kept. */
  copied: 3_000,
  /** Trajectory and ledger are sealed by then: the stage ends in any case. */
  exit: 3_500,
  /** A stage that has not ended is killed; then its supervisor writes down why. */
  kill: 4_000,
  /** All of it is said. What takes longer (moving it, its log) can be done by whoever finds it. */
  promised: 5_000,
} as const;
