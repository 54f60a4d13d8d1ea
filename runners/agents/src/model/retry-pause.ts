// How long to wait before the next try: as long as the provider asks, else twice as long each time, with jitter, so that
// attempts do not return all at once.
// Pure: chance is an argument.

const [firstMs, mostMs] = [1000, 60_000];

/** `again`: 1 before the second try. `random` gives [0, 1). */
export function retryPause(again: number, retryAfterMs: number | null, random: () => number): number {
  if (retryAfterMs !== null && retryAfterMs > 0) return Math.round(retryAfterMs * (1 + random() / 10));
  const whole = Math.min(mostMs, firstMs * 2 ** Math.min(again - 1, 20));
  return Math.round((whole / 2) * (1 + random()));
}
