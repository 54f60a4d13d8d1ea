// The two errors of a cell, which must not be confused: the spread of attempts, and the error of these submissions on
// other items. An interval over attempts includes only the first.
import { errorSources } from "@mlrb/core/statistics/error-sources";
import { itemCombination } from "@mlrb/core/statistics/item-combination";
import type { Item } from "@mlrb/core/statistics/ratio-estimate";
import type { Reading } from "@mlrb/formats/read-format";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";

/**
 * Both errors of the mean over `valid` attempts, in the metric's unit. The error over items is exact where
 * all samples can be read, because an item's difficulty is shared by the attempts; else it is an upper bound.
 */
export function cellErrors(
  valid: { attempt: Attempt; items: Reading<Item[]> }[],
  metric: string,
): Cell["errors"] {
  const scores = valid.flatMap(({ attempt }) => {
    const score = attempt.scores[metric]!;
    return score.kind === "scored" ? [score] : [];
  });
  const { betweenAttempts, overItems } = errorSources(
    // the error over a single item is formally 0 and means nothing
    scores.map(({ value, items, standardError }) => ({
      value,
      itemStandardError: items > 1 ? standardError : undefined,
    })),
  );
  const between = betweenAttempts ?? null;
  if (overItems === undefined) return { betweenAttempts: between, overItems: null, overItemsIs: null };
  if (valid.length === 1) return { betweenAttempts: between, overItems, overItemsIs: "exact" };
  const combined = combinedError(valid.map(({ items }) => items));
  return combined === undefined
    ? { betweenAttempts: between, overItems, overItemsIs: "at-most" }
    : { betweenAttempts: between, overItems: combined, overItemsIs: "exact" };
}

/** The larger of the errors over items and over their clusters; undefined where attempts cannot be combined. */
function combinedError(all: Reading<Item[]>[]): number | undefined {
  const items = all.flatMap((each) => (each.kind === "ok" ? [each.value] : []));
  if (items.length < all.length) return undefined;
  const combined = itemCombination(items.map((each) => ({ items: each, factor: 1 / items.length })));
  if (combined.kind === "unpaired" || combined.standardError === undefined) return undefined;
  return Math.max(combined.standardError, combined.clustered?.standardError ?? 0);
}
