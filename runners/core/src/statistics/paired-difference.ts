// Which of two submissions does better on the same items. Items are hard or easy for both, so the error
// of the difference is far smaller than the two errors together, and only pairing shows it.
import { errors, type Item, type Ratio, residuals } from "./ratio-estimate.ts";

export type PairedDifference =
  | ({ kind: "difference"; items: number } & Ratio)
  | { kind: "unpaired"; why: string };

/**
 * The mean over `pairs` of score(a) − score(b), each a ratio sum(value) / sum(weight), with its standard
 * error over items, in units of value per weight. Each pair is one seed; all must hold the same item ids.
 * An item pulls with the mean over pairs of its residual in a minus its residual in b (the linearised
 * ratio of ratioEstimate; a paired t-test where all weights are 1), so the error is that of a new draw
 * of items for these very submissions and says nothing of new attempts.
 */
export function pairedDifference(pairs: readonly { a: Item[]; b: Item[] }[]): PairedDifference {
  const first = pairs[0]?.a;
  if (!first || first.length === 0) return { kind: "unpaired", why: "there are no items" };
  const place = new Map(first.map((item, index) => [item.id, index]));
  if (place.size !== first.length) return { kind: "unpaired", why: "an item's id stands twice" };
  const pulls = new Array<number>(first.length).fill(0);
  let value = 0;
  for (const { a, b } of pairs) {
    for (const [side, sign] of [[a, 1] as const, [b, -1] as const]) {
      const seen = new Set(side.map((item) => item.id));
      const foreign = side.find((item) => !place.has(item.id));
      if (foreign || seen.size !== place.size || side.length !== place.size) {
        return { kind: "unpaired", why: "the items differ: these scores are not of the same test" };
      }
      if (side.some((item) => item.group !== first[place.get(item.id)!]!.group)) {
        return { kind: "unpaired", why: "the items' groups differ: these scores are not of the same test" };
      }
      const parts = residuals(side);
      if (!parts) return { kind: "unpaired", why: "the items' weights add up to nothing" };
      value += (sign * parts.value) / pairs.length;
      for (const [index, item] of side.entries()) {
        pulls[place.get(item.id)!]! += (sign * parts.residuals[index]!) / pairs.length;
      }
    }
  }
  if (!Number.isFinite(value) || !pulls.every(Number.isFinite)) {
    return { kind: "unpaired", why: "the values are too large to subtract" };
  }
  return { kind: "difference", value, items: first.length, ...errors(pulls, first) };
}
