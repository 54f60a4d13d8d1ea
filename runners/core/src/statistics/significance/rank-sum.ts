// How often the attempts of one agent beat those of another at one task, and the distribution of that number under
// random labels. The distribution is counted over all labellings, with ties, not sampled.

/**
 * Twice Mann and Whitney's U: over all pairs of one value of `a` and one of `b`, 2 where a is larger, 1 where
 * they are equal. From 0 to 2 · |a| · |b|; divided by that it is P(A > B) with ties half.
 */
export function doubledU(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (const x of a) for (const y of b) sum += x > y ? 2 : x === y ? 1 : 0;
  return sum;
}

/**
 * The probability of each value of doubledU, by index, when every choice of |a| of all the values is as likely as
 * any other. Exact up to rounding (relative error about 1e-14): groups of equal values are added from the smallest
 * to the largest, and choices are counted by the number that went to `a` and the sum that they add.
 */
export function rankSumDistribution(a: readonly number[], b: readonly number[]): Float64Array {
  const size = 2 * a.length * b.length + 1;
  let ways = Array.from({ length: a.length + 1 }, () => new Float64Array(size));
  ways[0]![0] = 1;
  let seen = 0;
  for (const group of tieSizes([...a, ...b])) {
    const next = ways.map(() => new Float64Array(size));
    let choices = 1; // of `chosen` among the group
    for (let chosen = 0; chosen <= group; chosen++) {
      for (let before = 0; before + chosen <= a.length; before++) {
        const below = seen - before; // values of b that are smaller than this group
        if (below < 0 || below + group - chosen > b.length) continue;
        const added = 2 * chosen * below + chosen * (group - chosen);
        const from = ways[before]!;
        const to = next[before + chosen]!;
        for (let u = 0; u <= 2 * before * below; u++) to[u + added]! += choices * from[u]!;
      }
      choices = (choices * (group - chosen)) / (chosen + 1);
    }
    ways = next;
    seen += group;
  }
  const counts = ways[a.length]!;
  const total = counts.reduce((sum, count) => sum + count, 0);
  return counts.map((count) => count / total);
}

/** An upper estimate of the additions in rankSumDistribution. */
export function rankSumCost(a: number, b: number): number {
  return 2 * (a + 1) * (a + b) * (2 * a * b + 1);
}

/** The number of equal values, for each distinct value in ascending order. */
function tieSizes(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  return [...Map.groupBy(sorted, (value) => value).values()].map(({ length }) => length);
}
