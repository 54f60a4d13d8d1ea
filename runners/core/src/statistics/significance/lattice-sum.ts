// The distribution of a sum of independent whole numbers, by convolution. It is exact up to rounding, and every
// term is positive, so the smallest tail keeps its digits.

/** Probabilities of 0, 1, 2, … by index; each step of that number counts as `step` in the sum. */
export type LatticePart = { probabilities: Float64Array; step: number };

/** The probability of each value of Σ step · number, by index. */
export function latticeSum(parts: readonly LatticePart[]): Float64Array {
  let sum = Float64Array.of(1);
  for (const { probabilities, step } of parts) {
    const next = new Float64Array(sum.length + (probabilities.length - 1) * step);
    for (const [value, probability] of probabilities.entries()) {
      if (probability === 0) continue;
      const shift = value * step;
      for (let index = 0; index < sum.length; index++) next[index + shift]! += probability * sum[index]!;
    }
    sum = next;
  }
  return sum;
}

/** The maximum number of multiplications of latticeSum; Infinity if a step is infinite. */
export function latticeSumCost(parts: readonly LatticePart[]): number {
  let reach = 1;
  let cost = 0;
  for (const { probabilities, step } of parts) {
    cost += reach * probabilities.length;
    reach += (probabilities.length - 1) * step;
  }
  return cost;
}

/**
 * The probability of a value at least as far from the middle of `probabilities` (indices 0 … length − 1) as
 * `observed`, and the same for the farthest possible value.
 */
export function twoSided(probabilities: Float64Array, observed: number): { p: number; pMin: number } {
  const last = probabilities.length - 1;
  const distance = (index: number) => Math.abs(2 * index - last);
  let farthest = 0;
  for (const [index, probability] of probabilities.entries()) {
    if (probability > 0) farthest = Math.max(farthest, distance(index));
  }
  // sums from both ends inwards, so that the mirrored distribution has the same p to the last digit
  const tail = (from: number) => {
    if (from <= last % 2) return 1;
    let sum = 0;
    for (let index = 0; distance(index) >= from && 2 * index < last; index++) {
      sum += probabilities[index]! + probabilities[last - index]!;
    }
    return Math.min(1, sum);
  };
  return { p: tail(distance(observed)), pMin: tail(farthest) };
}
