// A weighted sum of several submissions' scores on the same items, with its error over items. Hard items are hard for all
// submissions, so errors are combined item by item before they are squared.
import { errors, type Item, type Ratio, residuals } from "./ratio-estimate.ts";

export type ItemCombination =
  | ({ kind: "combined"; items: number } & Ratio)
  | { kind: "unpaired"; why: string };

/**
 * Σ factor · score over `terms`, each score a ratio sum(value) / sum(weight), with its standard error over
 * items, in units of value per weight. All terms must hold the same item ids and groups, in any order. An
 * item contributes Σ factor · residual (the linearised ratio of ratioEstimate), so the error is that of a new draw of items
 * for these submissions, not of new attempts.
 */
export function itemCombination(terms: readonly { items: Item[]; factor: number }[]): ItemCombination {
  const first = terms[0]?.items;
  if (!first || first.length === 0) return { kind: "unpaired", why: "there are no items" };
  const place = placesOf(first);
  if (place.size !== first.length) return { kind: "unpaired", why: "an item's id appears twice" };
  const pulls = new Array<number>(first.length).fill(0);
  let value = 0;
  for (const { items, factor } of terms) {
    const inOrder = sameOrder(items, first);
    const other = inOrder ? place : placesOf(items);
    const foreign = !inOrder && items.some((item) => !place.has(item.id));
    if (foreign || other.size !== place.size || items.length !== place.size) {
      return { kind: "unpaired", why: "the items differ: these scores are not of the same test" };
    }
    const at = inOrder ? undefined : items.map((item) => place.get(item.id)!);
    if (items.some((item, index) => item.group !== first[at ? at[index]! : index]!.group)) {
      return { kind: "unpaired", why: "the items' groups differ: these scores are not of the same test" };
    }
    const parts = residuals(items);
    if (!parts) return { kind: "unpaired", why: "the items' weights add up to nothing" };
    value += factor * parts.value;
    for (const [index, residual] of parts.residuals.entries()) {
      pulls[at ? at[index]! : index]! += factor * residual;
    }
  }
  if (!Number.isFinite(value) || !pulls.every(Number.isFinite)) {
    return { kind: "unpaired", why: "the values are too large to combine" };
  }
  return { kind: "combined", value, items: first.length, ...errors(pulls, first) };
}

const places = new WeakMap<readonly Item[], ReadonlyMap<string, number>>();

/** The index of each id. Cached, since a list enters several combinations and never changes. */
function placesOf(items: readonly Item[]): ReadonlyMap<string, number> {
  return places.getOrInsertComputed(items, () => new Map(items.map((item, index) => [item.id, index])));
}

/** Whether the ids are in the same order, as scorers write them; then no lookup is needed. */
function sameOrder(items: readonly Item[], first: readonly Item[]): boolean {
  return (
    items === first || (items.length === first.length && items.every(({ id }, at) => id === first[at]!.id))
  );
}
