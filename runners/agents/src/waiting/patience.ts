// How long an attempt waits for trouble that its agent did not cause, and how often it tries again meanwhile.
// Pure: chance is an argument.

export type Patience = {
  /** Without any answer of a provider. */
  providerMs: number;
  /** For a person: a key, a quota, a model's name. */
  operatorMs: number;
};

export const patience: Patience = { providerMs: 3_600_000, operatorMs: 72 * 3_600_000 };

const [firstMs, mostMs] = [60_000, 3_600_000];

/**
 * The pause before an attempt that waits for a person tries again by itself: a budget may have been refilled, a quota
 * reset. `again`: 1 before the second try. `random` returns [0, 1).
 */
export function operatorPause(again: number, retryAfterMs: number | null, random: () => number): number {
  const whole = Math.min(mostMs, firstMs * 2 ** Math.min(again - 1, 20));
  const pause = Math.round((whole / 2) * (1 + random()));
  return retryAfterMs === null ? pause : Math.min(mostMs, Math.max(pause, retryAfterMs));
}
