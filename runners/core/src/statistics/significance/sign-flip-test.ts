// Tests real pairs: one submission under two scorers, a task at two levels, two scripted agents with one seed.
// Attempts of two LLM agents with equal seeds are not pairs; permutationTest is for them.

import { assertFinite } from "../finite.ts";
import { seededRandom } from "../random.ts";
import { drawnP, permutationsDefault } from "./drawn-test.ts";
import type { Draws, Tested } from "./permutation-test.ts";

/** Two lists of 2²⁰ sums; with more pairs signs are drawn. */
const exactPairsMax = 40;

/** Rounding errors of equal sums are smaller than this share of the sum of all differences. */
const rounding = 1e-12;

/**
 * Fisher's randomisation test of paired `differences` (The Design of Experiments, 1935, section 21): how often
 * random signs give a sum as far from zero as theirs. Two-sided. Exact for up to 40 differences that are not
 * zero, by sums of two halves; else drawn, with p = (b + 1) / (m + 1). Zeros change nothing. Undefined for no
 * differences. Throws on values that are not finite.
 */
export function signFlipTest(
  differences: readonly number[],
  { seed = 1, permutations = permutationsDefault }: Draws = {},
): Tested | undefined {
  assertFinite(differences, "difference");
  if (differences.length === 0) return undefined;
  const sizes = differences
    .map(Math.abs)
    .filter((size) => size > 0)
    .sort((a, b) => a - b);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (!Number.isFinite(all)) throw new Error("bug: the differences are too large to add");
  const observed = Math.abs(differences.reduce((sum, each) => sum + each, 0)) - rounding * all;
  if (sizes.length > exactPairsMax) return drawn(sizes, observed, { seed, permutations });
  const pMin = Math.min(1, 2 ** (1 - sizes.length));
  if (observed <= 0) return { p: 1, pMin, method: { kind: "exact" } };
  // the sum is 2 · (positive part) − all; by symmetry the other end has as many
  const asFar = 2 * sumsOfAtLeast((all + observed) / 2, sizes);
  return { p: Math.min(1, asFar / 2 ** sizes.length), pMin, method: { kind: "exact" } };
}

function drawn(sizes: number[], observed: number, { seed, permutations }: Required<Draws>): Tested {
  const random = seededRandom(seed);
  let asFar = 0;
  for (let permutation = 0; permutation < permutations; permutation++) {
    let sum = 0;
    for (const size of sizes) sum += random.bits32() >= 2 ** 31 ? size : -size;
    if (Math.abs(sum) >= observed) asFar++;
  }
  return drawnP(asFar, { seed, permutations });
}

/** How many subsets of `sizes` add up to `threshold` or more. */
function sumsOfAtLeast(threshold: number, sizes: number[]): number {
  const half = sizes.length >> 1;
  const left = subsetSums(sizes.slice(0, half));
  const right = subsetSums(sizes.slice(half));
  let count = 0;
  let from = right.length;
  for (const sum of left) {
    while (from > 0 && sum + right[from - 1]! >= threshold) from--;
    count += right.length - from;
  }
  return count;
}

/** The sums of all subsets, from the least. */
function subsetSums(sizes: number[]): Float64Array {
  let sums = Float64Array.of(0);
  for (const size of sizes) {
    const next = new Float64Array(2 * sums.length);
    let without = 0;
    let including = 0;
    for (let place = 0; place < next.length; place++) {
      const takes = without === sums.length || sums[including]! + size < sums[without]!;
      next[place] = takes ? sums[including++]! + size : sums[without++]!;
    }
    sums = next;
  }
  return sums;
}
