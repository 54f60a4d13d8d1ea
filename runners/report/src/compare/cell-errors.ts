// The two errors of a cell, which must not be confused: the spread of attempts, and the error of these submissions
// on other items. An interval over attempts includes only the first.
import { errorSources } from "@mlrb/core/statistics/error-sources";
import { itemCombination } from "@mlrb/core/statistics/item-combination";
import type { Items } from "@mlrb/core/statistics/items";
import type { Reading } from "@mlrb/formats/read-format";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";

/** `counted` enters the mean; `below`: it is the trivial baseline, because the score is worse. */
type ValidAttempt = { attempt: Attempt; items: Reading<Items>; counted: number; below: boolean };

/**
 * Both errors of the mean over `valid` attempts, in the metric's unit. The error over items is exact where all
 * samples can be read, because an item's difficulty is shared by the attempts; else it is an upper bound. An
 * attempt that counts as the trivial baseline adds no error over items.
 */
export function cellErrors(valid: ValidAttempt[], metric: string): Cell["errors"] {
  const { betweenAttempts, overItems } = errorSources(
    valid.map(({ attempt, counted, below }) => ({
      value: counted,
      itemStandardError: below ? 0 : itemError(attempt, metric),
    })),
  );
  const between = betweenAttempts ?? null;
  const above = valid.filter(({ below }) => !below);
  if (overItems === undefined || above.length === 0)
    return { betweenAttempts: between, overItems: null, overItemsIs: null };
  if (above.length === 1) return { betweenAttempts: between, overItems, overItemsIs: "exact" };
  const combined = combinedError(
    above.map(({ items }) => items),
    valid.length,
  );
  return combined === undefined
    ? { betweenAttempts: between, overItems, overItemsIs: "at-most" }
    : { betweenAttempts: between, overItems: combined, overItemsIs: "exact" };
}

/** The error over a single item is formally 0 and means nothing. */
function itemError(attempt: Attempt, metric: string): number | undefined {
  const score = attempt.scores[metric]!;
  return score.kind === "scored" && score.items > 1 ? score.standardError : undefined;
}

/**
 * Of the mean over `attempts`, of which those with `all` depend on items: the larger of the errors over items and
 * over their clusters. Undefined where attempts cannot be combined.
 */
function combinedError(all: Reading<Items>[], attempts: number): number | undefined {
  const items = all.flatMap((each) => (each.kind === "ok" ? [each.value] : []));
  if (items.length < all.length) return undefined;
  const combined = itemCombination(items.map((each) => ({ items: each, factor: 1 / attempts })));
  if (combined.kind === "unpaired" || combined.standardError === undefined) return undefined;
  return Math.max(combined.standardError, combined.clustered?.standardError ?? 0);
}
