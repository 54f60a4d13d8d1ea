// How long an attempt waits for trouble that its agent did not cause, and how often it tries again meanwhile.
// Pure: chance is an argument.

export type Patience = {
  /** Without any answer of a provider. */
  providerMs: number;
  /** For a person: a key, a quota, a model's name. */
  operatorMs: number;
};

export const patience: Patience = { providerMs: 3_600_000, operatorMs: 72 * 3_600_000 };

/**
 * The pause before an attempt that waits for a person tries again by itself: a budget may have been refilled, a quota
 * reset. `again`: 1 before the second try. `random` returns [0, 1).
 */
export function operatorPause(again: number, retryAfterMs: number | null, random: () => number): number {
  const mostMs = 3_600_000;
  const pause = growingPause(again, { firstMs: 60_000, mostMs }, random);
  return retryAfterMs === null ? pause : Math.min(mostMs, Math.max(pause, retryAfterMs));
}

/** The pause before the next try: as long as the provider asks, else a growing one. */
export function retryPause(again: number, retryAfterMs: number | null, random: () => number): number {
  if (retryAfterMs !== null && retryAfterMs > 0) return Math.round(retryAfterMs * (1 + random() / 10));
  return growingPause(again, { firstMs: 1000, mostMs: 60_000 }, random);
}

/** Twice as long each time, with jitter, so that attempts do not return all at once. */
function growingPause(
  again: number,
  { firstMs, mostMs }: { firstMs: number; mostMs: number },
  random: () => number,
): number {
  const whole = Math.min(mostMs, firstMs * 2 ** Math.min(again - 1, 20));
  return Math.round((whole / 2) * (1 + random()));
}
