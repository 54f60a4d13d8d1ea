// A sum of several submissions' scores on the same items, with its error over those items. What is hard in an
// item is hard for all of them, so errors must be combined item by item before they are squared.
import { errors, type Item, type Ratio, residuals } from "./ratio-estimate.ts";

export type ItemCombination =
  | ({ kind: "combined"; items: number } & Ratio)
  | { kind: "unpaired"; why: string };

/**
 * Σ factor · score over `terms`, each score a ratio sum(value) / sum(weight), with its standard error over
 * items, in units of value per weight. All terms must hold the same item ids and groups, in any order. An
 * item pulls with Σ factor · residual (the linearised ratio of ratioEstimate), so the error is that of a new
 * draw of items for these very submissions and says nothing of new attempts.
 */
export function itemCombination(terms: readonly { items: Item[]; factor: number }[]): ItemCombination {
  const first = terms[0]?.items;
  if (!first || first.length === 0) return { kind: "unpaired", why: "there are no items" };
  const place = new Map(first.map((item, index) => [item.id, index]));
  if (place.size !== first.length) return { kind: "unpaired", why: "an item's id stands twice" };
  const pulls = new Array<number>(first.length).fill(0);
  let value = 0;
  for (const { items, factor } of terms) {
    const seen = new Set(items.map((item) => item.id));
    const foreign = items.find((item) => !place.has(item.id));
    if (foreign || seen.size !== place.size || items.length !== place.size) {
      return { kind: "unpaired", why: "the items differ: these scores are not of the same test" };
    }
    if (items.some((item) => item.group !== first[place.get(item.id)!]!.group)) {
      return { kind: "unpaired", why: "the items' groups differ: these scores are not of the same test" };
    }
    const parts = residuals(items);
    if (!parts) return { kind: "unpaired", why: "the items' weights add up to nothing" };
    value += factor * parts.value;
    for (const [index, item] of items.entries()) {
      pulls[place.get(item.id)!]! += factor * parts.residuals[index]!;
    }
  }
  if (!Number.isFinite(value) || !pulls.every(Number.isFinite)) {
    return { kind: "unpaired", why: "the values are too large to combine" };
  }
  return { kind: "combined", value, items: first.length, ...errors(pulls, first) };
}
