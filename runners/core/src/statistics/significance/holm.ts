// Correction for several tests, and which of them can reach significance at all.

/**
 * p values adjusted by Holm (1979), in the given order: to be compared with the level of the whole family.
 * Throws on a p that is not between 0 and 1.
 */
export function holm(pValues: readonly number[]): number[] {
  const wrong = pValues.find((p) => !(p >= 0 && p <= 1));
  if (wrong !== undefined) throw new Error(`bug: a p value of ${wrong}`);
  const order = pValues.map((_, index) => index).toSorted((i, j) => pValues[i]! - pValues[j]!);
  const adjusted = new Array<number>(pValues.length);
  let least = 0;
  for (const [rank, index] of order.entries()) {
    least = Math.max(least, Math.min(1, pValues[index]! * (pValues.length - rank)));
    adjusted[index] = least;
  }
  return adjusted;
}

/**
 * Whether each test can reach level `alpha` after Holm, given its smallest possible p. Holm never rejects fewer
 * tests when a p falls, so it is enough to test with all p at their smallest.
 */
export function attainable(smallest: readonly number[], alpha: number): boolean[] {
  return holm(smallest).map((adjusted) => adjusted <= alpha);
}
