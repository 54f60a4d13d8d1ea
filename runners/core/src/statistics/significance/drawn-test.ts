// The permutation test with too many labellings to count: a seed draws a sample of them.
import { type Random, seededRandom } from "../random.ts";
import { doubledU } from "./rank-sum.ts";

export type DrawnP = {
  p: number;
  pMin: number;
  method: {
    kind: "drawn";
    permutations: number;
    seed: number;
    /** Of p, from the number of draws. */
    standardError: number;
  };
};

/** Gives a p of 0.05 a standard error of 0.0007. */
export const permutationsDefault = 99_999;

/**
 * p = (b + 1) / (m + 1), where b = `asFar` of m = `permutations` drawn labellings are at least as extreme as the
 * observed one: p is never 0, and the test keeps its level for any m (Phipson and Smyth 2010).
 */
export function drawnP(
  asFar: number,
  { seed, permutations }: { seed: number; permutations: number },
): DrawnP {
  const p = (asFar + 1) / (permutations + 1);
  const standardError = Math.sqrt((p * (1 - p)) / permutations);
  return { p, pMin: 1 / (permutations + 1), method: { kind: "drawn", permutations, seed, standardError } };
}

/** Rounding errors of equal sums of fractions are smaller than this. */
const rounding = 1e-9;

/**
 * The p of drawn labellings, which are extreme if they are far from 0.5, and `superiority`, the mean over tasks of
 * P(A > B), ties half. Equal arguments give equal p; another order of values or tasks draws other labels.
 */
export function drawnTest(
  tasks: readonly { a: readonly number[]; b: readonly number[] }[],
  { seed, permutations }: { seed: number; permutations: number },
): DrawnP & { superiority: number } {
  if (!Number.isSafeInteger(permutations) || permutations < 1) {
    throw new Error(`bug: ${permutations} permutations`);
  }
  const random = seededRandom(seed);
  const prepared = tasks.map(({ a, b }) => ({
    ranks: doubledRanks([...a, ...b]),
    draw: a.length,
    most: 2 * a.length * b.length,
  }));
  const distance = (share: number) => Math.abs(share / tasks.length - 0.5);
  const superiority =
    tasks.reduce((sum, { a, b }) => sum + doubledU(a, b) / (2 * a.length * b.length), 0) / tasks.length;
  const observed = distance(superiority * tasks.length);
  let asFar = 0;
  for (let permutation = 0; permutation < permutations; permutation++) {
    let share = 0;
    for (const { ranks, draw, most } of prepared) {
      share += (drawnSum(ranks, draw, random) - draw * (draw + 1)) / most;
    }
    if (distance(share) >= observed - rounding) asFar++;
  }
  return { superiority, ...drawnP(asFar, { seed, permutations }) };
}

/** The sum of `draw` of `ranks`, drawn without replacement. Reorders `ranks`. */
function drawnSum(ranks: Float64Array, draw: number, random: Random): number {
  let sum = 0;
  for (let place = 0; place < draw; place++) {
    const other = place + random.integer(ranks.length - place);
    const drawn = ranks[other]!;
    ranks[other] = ranks[place]!;
    ranks[place] = drawn;
    sum += drawn;
  }
  return sum;
}

/** Twice the rank of each value from 1; equal values share the mean of their ranks. */
function doubledRanks(values: readonly number[]): Float64Array {
  const sorted = values.toSorted((x, y) => x - y);
  return Float64Array.from(values, (value) => sorted.indexOf(value) + sorted.lastIndexOf(value) + 2);
}
