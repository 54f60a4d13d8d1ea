// One number for a task, an agent and a metric, by intention to treat. An attempt that the agent made fail is
// scored at the trivial baseline, so that dropping failures cannot raise a mean. An attempt that the harness made
// fail is missing; too many missing attempts leave no interval.

import { type IntentionToTreat, intentionToTreat } from "@mlrb/core/statistics/intention-to-treat";
import type { Items } from "@mlrb/core/statistics/items";
import type { Interval } from "@mlrb/core/statistics/mean-interval";
import { normalisedScore } from "@mlrb/core/statistics/normalised-score";
import type { Reading } from "@mlrb/formats/read-format";
import type { Metric } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import type { ReferenceRow } from "../read/parse-artifacts.ts";
import type { Baseline, Reference } from "./baseline-of.ts";
import { cellErrors } from "./cell-errors.ts";
import { cellNotes } from "./cell-notes.ts";
import { type Counting, counting } from "./counting.ts";
import { equalSubmissions, repeatedAttempts } from "./equal-submissions.ts";
import { implausibleScores } from "./implausible-scores.ts";
import type { MetricScale } from "./metric-scale.ts";

/** An attempt of a cell, and the items of its score if the samples can be read. */
export type CellAttempt = { attempt: Attempt; items: Reading<Items> };

type CellOf = {
  metric: Metric;
  primary: boolean;
  baseline: Baseline;
  reference: Reference;
  scale: MetricScale;
  rows: ReferenceRow[];
  /** Whether the agent's only randomness is the seed. */
  seeded: boolean;
  /** Whether people made the attempts, each another. */
  isPerson: boolean;
};

/** The cell of `members`: all planned attempts of one task and agent, in order of their seeds. */
export function cell(members: CellAttempt[], from: CellOf): Cell {
  const { metric, primary, baseline, reference, scale } = from;
  const attempts = members.map(({ attempt }) => attempt);
  const { task, agent } = attempts[0]!;
  const ways = attempts.map((attempt) => counting(attempt, metric.name));
  const known = baseline.kind === "known" ? baseline.value : undefined;
  const { direction } = metric;
  const repeats = repeatedAttempts(
    attempts.filter((_, index) => ways[index]!.kind !== "missing"),
    from.seeded,
  );
  const range = intervalRange(metric, ways, known);
  const found = intentionToTreat(ways, { baseline: known, direction, range, repeated: repeats.length > 0 });
  const { counted, failed } = found;
  const mean = found.mean.kind === "mean" ? found.mean.value : null;
  const valid = members.filter((_, index) => ways[index]!.kind === "valid");
  const implausible = implausibleScores(
    valid.map(({ attempt }) => attempt),
    from,
  );
  const below = ways.map((way, index) => way.kind === "valid" && way.value !== counted[index]);
  return {
    task,
    agent,
    metric: metric.name,
    primary,
    direction,
    unit: metric.unit,
    seeds: attempts.map((attempt) => attempt.seed),
    values: attempts.map(({ scores }) => {
      const score = scores[metric.name]!;
      return score.kind === "scored" ? score.value : null;
    }),
    counted,
    mean,
    meanWithheld: found.mean.kind === "mean" ? null : found.mean.why,
    measured: found.measured,
    planned: found.planned,
    disqualified: failed.disqualified,
    rejected: failed.rejected,
    undecided: attempts.filter(
      ({ verdict }, index) => verdict.kind === "undecided" && ways[index]!.kind === "valid",
    ).length,
    ...validFields(found),
    belowBaseline: below.filter((each) => each).length,
    identical: equalSubmissions(valid.map(({ attempt }) => attempt)).map(({ length }) => length),
    observations: repeats.reduce((sum, { length }) => sum - length + 1, found.measured),
    implausible,
    errors: cellErrors(
      members.flatMap((member, index) =>
        ways[index]!.kind === "valid" ? [{ ...member, counted: counted[index]!, below: below[index]! }] : [],
      ),
      metric.name,
    ),
    baseline: known ?? null,
    baselineName: baseline.kind === "known" ? baseline.name : null,
    reference: reference.kind === "known" ? reference.value : null,
    referenceName: reference.name,
    referenceKind: reference.kind === "known" ? reference.of : null,
    ...normalisedValues({ counted, mean }, scale),
    notes: cellNotes(attempts, {
      isPerson: from.isPerson,
      metric,
      primary,
      found,
      ways,
      baseline,
      repeats,
      implausible,
    }),
  };
}

function validFields({ passed, valid }: IntentionToTreat) {
  const { interval } = valid;
  const held = interval.kind === "interval";
  return {
    passInterval: passed ?? null,
    validMean: valid.mean ?? null,
    validN: valid.n,
    validInterval: held ? ([interval.low, interval.high] as [number, number]) : null,
    validIntervalCut: held ? interval.cut : null,
    validIntervalWithheld: held ? null : interval.why,
  };
}

/** The metric's range, widened to values that rounding put outside, because an interval includes its own values. */
function intervalRange({ range }: Metric, ways: Counting[], baseline: number | undefined): Interval {
  const [least, most] = range ?? [Number.NEGATIVE_INFINITY, null];
  const values = ways.flatMap((way) => (way.kind === "valid" ? [way.value] : (baseline ?? [])));
  return [Math.min(least, ...values), Math.max(most ?? Number.POSITIVE_INFINITY, ...values)];
}

/** On the scale from the trivial baseline to the reference model. Nulls in `counted` and `mean` stay null. */
function normalisedValues(
  { counted, mean }: { counted: (number | null)[]; mean: number | null },
  found: MetricScale,
) {
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
