// A weighted sum of several submissions' scores on the same items, with its error over items. Hard items are hard
// for all submissions, so errors are combined item by item before they are squared.
import type { Groups, Items } from "./items.ts";
import { errors, type Ratio, residuals } from "./ratio-estimate.ts";

export type ItemCombination =
  | ({ kind: "combined"; items: number } & Ratio)
  | { kind: "unpaired"; why: string };

/**
 * Σ factor · score over `terms`, each score a ratio sum(value) / sum(weight), with its standard error over items,
 * in units of value per weight. All terms must hold the same item ids and groups, in any order. An item
 * contributes Σ factor · residual (the linearised ratio of ratioEstimate), so the error is that of a new draw of
 * items for these submissions, not of new attempts.
 */
export function itemCombination(terms: readonly { items: Items; factor: number }[]): ItemCombination {
  const first = terms[0]?.items;
  if (!first || first.ids.length === 0) return { kind: "unpaired", why: "there are no items" };
  const place = placesOf(first.ids);
  if (place.size !== first.ids.length) return { kind: "unpaired", why: "an item's id appears twice" };
  const pulls = new Float64Array(first.ids.length);
  let value = 0;
  for (const { items, factor } of terms) {
    const inOrder = areSame(items.ids, first.ids);
    const at = inOrder ? undefined : placesIn(items.ids, place);
    if (!inOrder && !at) {
      return { kind: "unpaired", why: "the items differ: these scores are not of the same test" };
    }
    if (!sameGroups(items.groups, first.groups, at)) {
      return { kind: "unpaired", why: "the items' groups differ: these scores are not of the same test" };
    }
    const parts = residuals(items);
    if (!parts) return { kind: "unpaired", why: "the items' weights add up to nothing" };
    value += factor * parts.value;
    for (let index = 0; index < pulls.length; index++) {
      pulls[at ? at[index]! : index]! += factor * parts.residuals[index]!;
    }
  }
  if (!Number.isFinite(value) || !pulls.every(Number.isFinite)) {
    return { kind: "unpaired", why: "the values are too large to combine" };
  }
  return { kind: "combined", value, items: pulls.length, ...errors(pulls, first) };
}

const places = new WeakMap<readonly string[], ReadonlyMap<string, number>>();

/** The index of each id. Cached, since a list enters several combinations and never changes. */
function placesOf(ids: readonly string[]): ReadonlyMap<string, number> {
  return places.getOrInsertComputed(ids, () => {
    const found = new Map<string, number>();
    for (let index = 0; index < ids.length; index++) found.set(ids[index]!, index);
    return found;
  });
}

/** The place of each of `ids`; undefined unless they are those of `place`, once each. */
function placesIn(ids: readonly string[], place: ReadonlyMap<string, number>): Int32Array | undefined {
  if (ids.length !== place.size || placesOf(ids).size !== place.size) return undefined;
  const found = Int32Array.from(ids, (id) => place.get(id) ?? -1);
  return found.includes(-1) ? undefined : found;
}

/** `at`: the place in `first` of each item of `own`; undefined if both have the same order. */
function sameGroups(own: Groups, first: Groups, at: Int32Array | undefined): boolean {
  if (own === first) return true;
  const name = ({ names, of }: Groups, index: number) => names[of[index]!];
  for (let index = 0; index < own.of.length; index++)
    if (name(own, index) !== name(first, at ? at[index]! : index)) return false;
  return true;
}

/** Scorers write items in one order, so no lookup is needed. */
function areSame(some: readonly string[], others: readonly string[]): boolean {
  return some === others || (some.length === others.length && some.every((id, at) => id === others[at]));
}
