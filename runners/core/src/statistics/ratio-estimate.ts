// A score as a ratio: sum(value) / sum(weight) over items. An accuracy has weight 1, bits per byte the bytes of a document.
// Items are a sample, so the ratio has an error of its own, which is not the spread between attempts.
import { assertFinite, finite } from "./finite.ts";

export type Item = { id: string; value: number; weight: number; group?: string };

export type Ratio = {
  value: number;
  /** Over items; undefined for one item. */
  standardError: number | undefined;
  /** Over groups as clusters; undefined unless every item has a group and there are two or more. */
  clustered: { standardError: number; clusters: number } | undefined;
};

/**
 * The ratio and its standard errors, in units of value per weight. Undefined when the weights add up to
 * zero. Linearised (Cochran, Sampling Techniques, 1977, section 6.4): item i contributes
 * e = (value − ratio · weight) / sum(weight), and se² = n / (n − 1) · Σ e²; over clusters e is summed first.
 */
export function ratioEstimate(items: readonly Item[]): Ratio | undefined {
  const parts = residuals(items);
  return parts && { value: parts.value, ...errors(parts.residuals, items) };
}

type Residuals = { value: number; residuals: readonly number[] };

/** Cached: a list enters several combinations, never changes, and may have fourteen thousand items. */
const counted = new WeakMap<readonly Item[], Residuals | undefined>();

/** Each item's contribution to the ratio; they add up to zero. Undefined if the weights add up to zero. */
export function residuals(items: readonly Item[]): Residuals | undefined {
  return counted.getOrInsertComputed(items, residualsOf);
}

function residualsOf(items: readonly Item[]): Residuals | undefined {
  for (const field of ["value", "weight"] as const) {
    if (items.every((item) => Number.isFinite(item[field]))) continue;
    assertFinite(
      items.map((item) => item[field]),
      `item ${field}`,
    );
  }
  let values = 0;
  let weights = 0;
  for (const item of items) {
    values += item.value;
    weights += item.weight;
  }
  const value = finite(values / weights);
  if (value === undefined) return undefined;
  const pulls = items.map((item) => (item.value - value * item.weight) / weights);
  return pulls.every(Number.isFinite) ? { value, residuals: pulls } : undefined;
}

/** Standard errors of an estimate from the contributions of items (`pulls`, in the order of `items`). */
export function errors(pulls: readonly number[], items: readonly Item[]): Omit<Ratio, "value"> {
  const clusters = clustersOf(items);
  const sums = clusters && new Array<number>(clusters.count).fill(0);
  if (clusters && sums) for (const [index, pull] of pulls.entries()) sums[clusters.of[index]!]! += pull;
  const clustered = sums && rootOfSquares(sums);
  return {
    standardError: rootOfSquares(pulls),
    clustered: clustered === undefined ? undefined : { standardError: clustered, clusters: sums!.length },
  };
}

type Clusters = { of: Int32Array; count: number };

const known = new WeakMap<readonly Item[], Clusters | undefined>();

/** The number of each item's group, in order of first appearance; undefined unless every item has one. */
function clustersOf(items: readonly Item[]): Clusters | undefined {
  return known.getOrInsertComputed(items, () => {
    const numbers = new Map<string, number>();
    const of = Int32Array.from(items, ({ group }) =>
      group === undefined ? -1 : numbers.getOrInsert(group, numbers.size),
    );
    return of.includes(-1) ? undefined : { of, count: numbers.size };
  });
}

function rootOfSquares(pulls: readonly number[]): number | undefined {
  if (pulls.length < 2) return undefined;
  const squares = pulls.reduce((sum, pull) => sum + pull * pull, 0);
  return finite(Math.sqrt((pulls.length / (pulls.length - 1)) * squares));
}
