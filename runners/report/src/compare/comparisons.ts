// Which of two agents' submissions did better on the same items. The error is over items of these submissions:
// with two seeds it can be tiny and still predict nothing about a third attempt.
import type { Items } from "@mlrb/core/statistics/items";
import { pairedDifference } from "@mlrb/core/statistics/paired-difference";
import { residuals } from "@mlrb/core/statistics/ratio-estimate";
import type { Reading } from "@mlrb/formats/read-format";
import type { Metric } from "@mlrb/formats/report";
import type { Attempt, Seed } from "@mlrb/formats/report/attempt";
import type { Comparison } from "@mlrb/formats/report/comparison";
import { parseSamples } from "../read/samples/parse-samples.ts";
import type { CellAttempt } from "./cell.ts";
import { counting } from "./counting.ts";

/** A samples file, as bytes or as text. */
export type SamplesOf = (attempt: Attempt, scorer: string) => Reading<Uint8Array | string>;

/** A comparison for every pair of the agents that planned attempts at this task; seeds in order. */
export function comparisons(byAgent: CellAttempt[][], metric: Metric): Comparison[] {
  return byAgent.flatMap((first, index) =>
    byAgent.slice(index + 1).map((second) => compare(first, second, metric)),
  );
}

/**
 * The samples of a valid attempt that reproduce its score, or why it is left out. `like`: items of another
 * attempt, to share names with.
 */
export function itemsOf(
  attempt: Attempt,
  metric: string,
  { samples, like }: { samples: SamplesOf; like?: Items | undefined },
): Reading<Items> {
  const way = counting(attempt, metric);
  if (way.kind === "failed") return { kind: "unreadable", cause: way.because };
  if (way.kind === "missing") return { kind: "unreadable", cause: "not measured" };
  const text = samples(attempt, metric);
  const items = text.kind === "ok" ? parseSamples(text.value, like) : text;
  if (items.kind === "unreadable")
    return { kind: "unreadable", cause: `unreadable samples (${items.cause})` };
  const again = residuals(items.value)?.value; // the score without its errors, which need not be counted here
  // Scores may be rounded; a gap over 1e-4 means another file.
  if (again === undefined || Math.abs(again - way.value) > 1e-4 * Math.max(1, Math.abs(way.value))) {
    return { kind: "unreadable", cause: "its samples do not reproduce its score" };
  }
  return items;
}

function compare(first: CellAttempt[], second: CellAttempt[], metric: Metric): Comparison {
  const { task, agent } = first[0]!.attempt;
  const agents: [string, string] = [agent, second[0]!.attempt.agent];
  const base = { task, metric: metric.name, agents };
  const pairs: { seed: Seed; a: Items; b: Items }[] = [];
  const leftOut: { seed: Seed; why: string }[] = [];
  for (const { attempt, items } of first) {
    const seed = attempt.seed;
    const other = second.find((each) => each.attempt.seed === seed);
    if (!other) leftOut.push({ seed, why: `${agents[1]} has no such seed` });
    else if (items.kind !== "ok") leftOut.push({ seed, why: `${agents[0]}: ${items.cause}` });
    else if (other.items.kind !== "ok") leftOut.push({ seed, why: `${agents[1]}: ${other.items.cause}` });
    else pairs.push({ seed, a: items.value, b: other.items.value });
  }
  for (const { attempt } of second) {
    const shared = first.some((each) => each.attempt.seed === attempt.seed);
    if (!shared) leftOut.push({ seed: attempt.seed, why: `${agents[0]} has no such seed` });
  }
  if (pairs.length === 0) {
    const whys = [...new Set(leftOut.map(({ why }) => why))].join("; ");
    return { ...base, kind: "not-compared", why: `no seed has two valid scores (${whys})` };
  }
  const paired = pairedDifference(pairs);
  if (paired.kind === "unpaired") return { ...base, kind: "not-compared", why: paired.why };
  const { value: difference, clustered, items } = paired;
  const ahead = metric.direction === "higher" ? difference : -difference;
  const errors = {
    standardError: paired.standardError ?? null,
    clusteredStandardError: clustered?.standardError ?? null,
  };
  const error = comparisonError(errors);
  return {
    ...base,
    kind: "compared",
    difference,
    ...errors,
    clusters: clustered?.clusters ?? null,
    items,
    seeds: pairs.map(({ seed }) => seed),
    leftOut,
    better: ahead === 0 ? null : ahead > 0 ? agents[0] : agents[1],
    clear: error === null ? null : Math.abs(difference) > 2 * error,
  };
}

/** The error of a comparison, in tables, in `clear` and in the sample: the larger of the errors over items and over clusters of items; null without an error over items. */
export function comparisonError(found: {
  standardError: number | null;
  clusteredStandardError: number | null;
}): number | null {
  return found.standardError === null
    ? null
    : Math.max(found.standardError, found.clusteredStandardError ?? 0);
}
