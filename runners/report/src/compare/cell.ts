// One number for a task, an agent and a metric, by intention to treat. An attempt that the agent made fail is scored at
// the trivial baseline, so that dropping failures cannot raise a mean. An attempt that the harness made fail is
// missing; too many missing attempts leave no interval.

import { type IntentionToTreat, intentionToTreat } from "@mlrb/core/statistics/intention-to-treat";
import type { Interval } from "@mlrb/core/statistics/mean-interval";
import { normalisedScore } from "@mlrb/core/statistics/normalised-score";
import type { Item } from "@mlrb/core/statistics/ratio-estimate";
import type { Reading } from "@mlrb/formats/read-format";
import type { Metric } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { importedText } from "../read/imported-words.ts";
import type { Anchor } from "./anchor-of.ts";
import { cellErrors } from "./cell-errors.ts";
import { equalSubmissions } from "./equal-submissions.ts";
import type { Floor } from "./floor-of.ts";
import type { MetricScale } from "./metric-scale.ts";

export type Counting =
  | { kind: "valid"; value: number }
  | { kind: "failed"; because: "struck" | "rejected" }
  | { kind: "missing"; cause: string };

/** How an attempt enters the mean of one metric. */
export function counting(attempt: Attempt, metric: string): Counting {
  const score = attempt.scores[metric]!;
  if (attempt.verdict.kind === "struck") return { kind: "failed", because: "struck" };
  if (attempt.verdict.kind === "rejected" || score.kind === "rejected") {
    return { kind: "failed", because: "rejected" };
  }
  if (attempt.verdict.kind === "missing") return { kind: "missing", cause: attempt.verdict.cause };
  if (score.kind === "not-measured") return { kind: "missing", cause: score.cause };
  return { kind: "valid", value: score.value };
}

/** An attempt of a cell, and the items of its score if the samples can be read. */
export type CellAttempt = { attempt: Attempt; items: Reading<Item[]> };

/** The cell of `members`: all planned attempts of one task and agent, in order of their seeds. */
export function cell(
  members: CellAttempt[],
  from: { metric: Metric; primary: boolean; floor: Floor; anchor: Anchor; scale: MetricScale },
): Cell {
  const { metric, primary, floor, anchor, scale } = from;
  const attempts = members.map(({ attempt }) => attempt);
  const { task, agent } = attempts[0]!;
  const ways = attempts.map((attempt) => counting(attempt, metric.name));
  const known = floor.kind === "known" ? floor.value : undefined;
  const found = intentionToTreat(ways, { floor: known, range: intervalRange(metric, ways, known) });
  const { interval, failed } = found;
  const mean = found.mean.kind === "mean" ? found.mean.value : null;
  return {
    task,
    agent,
    metric: metric.name,
    primary,
    direction: metric.direction,
    unit: metric.unit,
    seeds: attempts.map((attempt) => attempt.seed),
    values: attempts.map(({ scores }) => {
      const score = scores[metric.name]!;
      return score.kind === "scored" ? score.value : null;
    }),
    counted: found.counted,
    mean,
    meanWithheld: found.mean.kind === "mean" ? null : found.mean.why,
    interval: interval.kind === "interval" ? [interval.low, interval.high] : null,
    intervalCut: interval.kind === "interval" ? interval.cut : null,
    intervalWithheld: interval.kind === "interval" ? null : interval.why,
    measured: found.measured,
    planned: found.planned,
    struck: failed.struck,
    rejected: failed.rejected,
    undecided: attempts.filter(
      ({ verdict }, index) => verdict.kind === "undecided" && ways[index]!.kind === "valid",
    ).length,
    validMean: found.valid.mean ?? null,
    validN: found.valid.n,
    errors: cellErrors(
      members.filter((_, index) => ways[index]!.kind === "valid"),
      metric.name,
    ),
    floor: floor.kind === "known" ? floor.value : null,
    floorName: floor.kind === "known" ? floor.name : null,
    anchor: anchor.kind === "known" ? anchor.value : null,
    anchorName: anchor.name,
    ...normalisedValues({ counted: found.counted, mean }, scale),
    notes: [...withheldTexts(found), ...noteTexts(attempts, ways, floor)],
  };
}

/** The metric's range, widened to values that rounding put outside, because an interval includes its own values. */
function intervalRange({ range }: Metric, ways: Counting[], floor: number | undefined): Interval {
  const [least, most] = range ?? [Number.NEGATIVE_INFINITY, null];
  const values = ways.flatMap((way) => (way.kind === "valid" ? [way.value] : (floor ?? [])));
  return [Math.min(least, ...values), Math.max(most ?? Number.POSITIVE_INFINITY, ...values)];
}

/** Why there is no mean or no interval; empty where the causes of missing attempts explain it. */
function withheldTexts({ planned, measured, failed, mean, interval }: IntentionToTreat): string[] {
  if (mean.kind === "none") {
    switch (mean.why) {
      case "nothing-measured":
        return [];
      case "floor-unknown": {
        const count = failed.struck + failed.rejected;
        return [`no mean: ${attemptsText(count)} would be scored at the trivial baseline, which is unknown`];
      }
      case "out-of-range":
        return ["no mean: the values are too large"];
    }
  }
  if (interval.kind === "interval") return [];
  switch (interval.why) {
    case "too-many-missing":
      return [`no interval: ${planned - measured} of ${planned} attempts are missing (at most 20 % may be)`];
    case "all-failed":
      return ["no interval: every attempt is scored at the trivial baseline"];
    case "one-value":
      return ["no interval: a spread needs two attempts"];
    case "no-spread":
      return ["no interval: all attempts have the same score, so their spread is unknown"];
    case "out-of-range":
      return ["no interval: the values are too large"];
    case "no-mean":
    case "no-values":
      throw new Error(`bug: a mean of ${measured} attempts and ${interval.why}`);
  }
}

function noteTexts(attempts: Attempt[], ways: Counting[], floor: Floor): string[] {
  const causes = new Set(ways.flatMap((way) => (way.kind === "missing" ? [way.cause] : [])));
  return [
    ...[...causes].map((cause) => `not measured: ${cause}`),
    ...attempts.flatMap(({ seed, note }) => (note === "" ? [] : [`seed ${seed}: ${note}`])),
    ...importedTexts(attempts),
    ...(floor.kind === "unavailable" ? [floor.why] : []),
    ...equalSubmissions(attempts.filter((_, index) => ways[index]!.kind === "valid")).map(equalText),
  ];
}

function importedTexts(attempts: Attempt[]): string[] {
  const byText = Map.groupBy(attempts, importedText);
  return [...byText].flatMap(([text, of]) =>
    text === "" ? [] : [`seed ${of.map(({ seed }) => seed).join(", ")}: ${text}`],
  );
}

/** `Seeds 1, 2 and 3 produced identical files; …`. */
function equalText(equal: Attempt[]): string {
  const seeds = equal.map(({ seed }) => seed);
  const listed = `${seeds.slice(0, -1).join(", ")} and ${seeds.at(-1)}`;
  return `Seeds ${listed} produced identical files; their variance is not informative.`;
}

function attemptsText(count: number): string {
  return count === 1 ? "1 attempt" : `${count} attempts`;
}

type Normalised = Pick<Cell, "normalised" | "normalisedMean" | "normalisedWithheld">;

/** On the scale from the trivial baseline to the reference model. Nulls in `counted` and `mean` stay null. */
function normalisedValues(
  { counted, mean }: { counted: (number | null)[]; mean: number | null },
  found: MetricScale,
): Normalised {
  const share = (value: number | null) => {
    if (value === null || found.kind === "none") return null;
    const normalised = normalisedScore(value, found.scale);
    return normalised.kind === "normalised" ? normalised.value : null;
  };
  return {
    normalised: counted.map(share),
    normalisedMean: share(mean),
    normalisedWithheld: found.kind === "none" ? found.why : null,
  };
}
