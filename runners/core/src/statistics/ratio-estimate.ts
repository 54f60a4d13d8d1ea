// A score as the ratio that it is: sum(value) / sum(weight) over items, where an accuracy has weight 1
// and bits per byte the bytes of a document. Items are a sample, so the ratio has an error of its own,
// which is not the spread between attempts.
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
 * nothing. Linearised (Cochran, Sampling Techniques, 1977, section 6.4): item i weighs in with
 * e = (value − ratio · weight) / sum(weight), and se² = n / (n − 1) · Σ e²; over clusters e is summed first.
 */
export function ratioEstimate(items: readonly Item[]): Ratio | undefined {
  const parts = residuals(items);
  return parts && { value: parts.value, ...errors(parts.residuals, items) };
}

/** Each item's pull on the ratio; they add up to zero. Undefined when the weights add up to nothing. */
export function residuals(items: readonly Item[]): { value: number; residuals: number[] } | undefined {
  assertFinite(
    items.map((item) => item.value),
    "item value",
  );
  assertFinite(
    items.map((item) => item.weight),
    "item weight",
  );
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

/** Standard errors of an estimate from each item's pull on it. `pulls` follow the order of `items`. */
export function errors(pulls: readonly number[], items: readonly Item[]): Omit<Ratio, "value"> {
  const byGroup = new Map<string, number>();
  let grouped = true;
  for (const [index, item] of items.entries()) {
    if (item.group === undefined) grouped = false;
    else byGroup.set(item.group, (byGroup.get(item.group) ?? 0) + pulls[index]!);
  }
  const clustered = grouped ? rootOfSquares([...byGroup.values()]) : undefined;
  return {
    standardError: rootOfSquares(pulls),
    clustered: clustered === undefined ? undefined : { standardError: clustered, clusters: byGroup.size },
  };
}

function rootOfSquares(pulls: readonly number[]): number | undefined {
  if (pulls.length < 2) return undefined;
  const squares = pulls.reduce((sum, pull) => sum + pull * pull, 0);
  return finite(Math.sqrt((pulls.length / (pulls.length - 1)) * squares));
}
