// The difference of two submissions on the same items. Items are hard or easy for both, so the error of the paired
// difference is far smaller than the two errors together.
import { type ItemCombination, itemCombination } from "./item-combination.ts";
import type { Items } from "./items.ts";
import type { Ratio } from "./ratio-estimate.ts";

export type PairedDifference =
  | ({ kind: "difference"; items: number } & Ratio)
  | Extract<ItemCombination, { kind: "unpaired" }>;

/**
 * The mean over `pairs` of score(a) − score(b), each a ratio sum(value) / sum(weight), with its standard
 * error over items, in units of value per weight. Each pair is one seed; all must hold the same item ids.
 * With weights of 1 the error is that of a paired t-test; itemCombination explains its meaning.
 */
export function pairedDifference(pairs: readonly { a: Items; b: Items }[]): PairedDifference {
  const combined = itemCombination(
    pairs.flatMap(({ a, b }) => [
      { items: a, factor: 1 / pairs.length },
      { items: b, factor: -1 / pairs.length },
    ]),
  );
  return combined.kind === "unpaired" ? combined : { ...combined, kind: "difference" };
}
