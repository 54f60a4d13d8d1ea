/**
 * Milliseconds that a trial of what this machine allows may take. A trial takes milliseconds, and seconds on a
 * busy machine, which must not pass for one that allows nothing: its stages would fail, or run with weaker walls.
 */
export const trialMs = 60_000;
