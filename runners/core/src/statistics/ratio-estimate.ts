// A score as a ratio: sum(value) / sum(weight) over items. An accuracy has weight 1, bits per byte the bytes of a
// document. Items are a sample, so the ratio has an error of its own, which is not the spread between attempts.
import { finite } from "./finite.ts";
import type { Groups, Items } from "./items.ts";

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
export function ratioEstimate(items: Items): Ratio | undefined {
  const parts = residuals(items);
  return parts && { value: parts.value, ...errors(parts.residuals, items) };
}

type Residuals = { value: number; residuals: Float64Array };

/** Cached: a list enters several combinations, never changes, and may have 67 000 items. */
const counted = new WeakMap<Items, Residuals | undefined>();

/** Each item's contribution to the ratio; they add up to zero. Undefined if the weights add up to zero. */
export function residuals(items: Items): Residuals | undefined {
  return counted.getOrInsertComputed(items, residualsOf);
}

function residualsOf({ values, weights }: Items): Residuals | undefined {
  const weight = sumOf(weights);
  const value = finite(sumOf(values) / weight);
  if (value === undefined) return undefined;
  const pulls = new Float64Array(values.length);
  for (let at = 0; at < pulls.length; at++) pulls[at] = (values[at]! - value * weights[at]!) / weight;
  return pulls.every(Number.isFinite) ? { value, residuals: pulls } : undefined;
}

/** In the order of the items, because another order rounds otherwise. */
function sumOf(column: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < column.length; at++) sum += column[at]!;
  return sum;
}

/** Standard errors of an estimate from the contributions of items (`pulls`, in the order of `items`). */
export function errors(pulls: Float64Array, { groups }: Items): Omit<Ratio, "value"> {
  const clustered = groups.of.includes(-1) ? undefined : rootOfSquares(clusterSums(pulls, groups));
  return {
    standardError: rootOfSquares(pulls),
    clustered:
      clustered === undefined ? undefined : { standardError: clustered, clusters: groups.names.length },
  };
}

function clusterSums(pulls: Float64Array, { names, of }: Groups): Float64Array {
  const sums = new Float64Array(names.length);
  for (let at = 0; at < pulls.length; at++) sums[of[at]!]! += pulls[at]!;
  return sums;
}

function rootOfSquares(pulls: Float64Array): number | undefined {
  if (pulls.length < 2) return undefined;
  let squares = 0;
  for (let at = 0; at < pulls.length; at++) squares += pulls[at]! * pulls[at]!;
  return finite(Math.sqrt((pulls.length / (pulls.length - 1)) * squares));
}
