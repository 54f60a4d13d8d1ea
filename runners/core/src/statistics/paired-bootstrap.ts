// The difference of two checkpoints on the same items where its error has no simple form or items come in
// clusters: items are drawn anew, the same for both. Never for attempts, of which there are too few: over 3
// values a percentile interval covers 75 % where it says 95 % (docs/statistics.md).
import { itemCombination } from "./item-combination.ts";
import { seededRandom } from "./random.ts";
import type { Item } from "./ratio-estimate.ts";

export type PairedBootstrap =
  | {
      kind: "interval";
      /** score(a) − score(b). */
      value: number;
      low: number;
      high: number;
      /** What was drawn: clusters where every item has a group, else items. Under about 20 it covers too little. */
      units: number;
      of: "clusters" | "items";
    }
  | { kind: "unpaired"; why: string };

type Unit = { id: string; valueA: number; weightA: number; valueB: number; weightB: number };

/**
 * The 95 % percentile interval (Efron 1979) of the difference of two ratios sum(value) / sum(weight), in their
 * unit, from `resamples` draws of items (or clusters) with `seed`: the 2.5 % and 97.5 % order statistics. A
 * draw without any weight is drawn again. The order of items does not matter; swapping the sides turns signs.
 * One item or cluster is "unpaired". Throws on fewer than 39 resamples, which have no such order statistics.
 */
export function pairedBootstrap(
  a: Item[],
  b: Item[],
  { seed = 1, resamples = 9999 }: { seed?: number; resamples?: number } = {},
): PairedBootstrap {
  if (!Number.isSafeInteger(resamples) || resamples < 39) throw new Error(`bug: ${resamples} resamples`);
  const paired = itemCombination([
    { items: a, factor: 1 },
    { items: b, factor: -1 },
  ]);
  if (paired.kind === "unpaired") return paired;
  const clustered = a.every(({ group }) => group !== undefined);
  const units = unitsOf(a, b, clustered);
  if (units.length < 2) return { kind: "unpaired", why: "there is only one item or cluster to draw from" };
  const random = seededRandom(seed);
  const differences = new Float64Array(resamples);
  for (let resample = 0; resample < resamples; ) {
    let [valueA, weightA, valueB, weightB] = [0, 0, 0, 0];
    for (let draw = 0; draw < units.length; draw++) {
      const unit = units[random.integer(units.length)]!;
      valueA += unit.valueA;
      weightA += unit.weightA;
      valueB += unit.valueB;
      weightB += unit.weightB;
    }
    if (weightA !== 0 && weightB !== 0) differences[resample++] = valueA / weightA - valueB / weightB;
  }
  differences.sort();
  const outside = Math.floor(0.025 * (resamples + 1));
  return {
    kind: "interval",
    value: paired.value,
    low: differences[outside - 1]!,
    high: differences[resamples - outside]!,
    units: units.length,
    of: clustered ? "clusters" : "items",
  };
}

/** By id, so that the order of items does not matter. */
function unitsOf(a: Item[], b: Item[], clustered: boolean): Unit[] {
  const other = new Map(b.map((item) => [item.id, item]));
  const units = new Map<string, Unit>();
  for (const item of a.toSorted((x, y) => (x.id < y.id ? -1 : 1))) {
    const id = clustered ? item.group! : item.id;
    const unit = units.get(id) ?? { id, valueA: 0, weightA: 0, valueB: 0, weightB: 0 };
    unit.valueA += item.value;
    unit.weightA += item.weight;
    unit.valueB += other.get(item.id)!.value;
    unit.weightB += other.get(item.id)!.weight;
    units.set(id, unit);
  }
  return [...units.values()];
}
