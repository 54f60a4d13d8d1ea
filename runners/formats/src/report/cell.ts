// A cell of report.json: one number for a task, an agent and a metric, with the values behind it.

import { referenceKind } from "../judged/references.ts";
import { direction } from "../judged/score.ts";
import * as t from "../schema.ts";

const values = t.listOf(t.numberOrNull);
const whyNoMean = t.oneOf("nothing-measured", "baseline-unknown", "out-of-range");
const whyNoInterval = t.oneOf(
  "no-values",
  "one-value",
  "no-spread",
  "out-of-range",
  "too-many-missing",
  "repeated",
);

const errors = t.about(
  t.wholeObject({
    betweenAttempts: t.about(
      t.numberOrNull,
      "sample standard deviation of the values that count; null for fewer than two",
    ),
    overItems: t.about(
      t.numberOrNull,
      "standard error of the valid mean over items, for these very submissions; 0 from an attempt worse than the trivial baseline",
    ),
    overItemsIs: t.about(
      t.nullable(t.oneOf("exact", "at-most")),
      "exact from the items of all attempts, at-most: an upper bound if these cannot be combined",
    ),
  }),
  "of the valid attempts; two different errors, never added",
);

const implausible = t.wholeObject({
  seed: t.seed,
  row: t.about(t.anyText, "the reference model that comes nearest"),
  standardErrors: t.about(
    t.numberOrNull,
    "distance from that row, in the sum of both errors over items; null if both are 0",
  ),
});

export const cell = t.wholeObject({
  task: t.anyText,
  agent: t.anyText,
  metric: t.anyText,
  primary: t.about(t.flag, "whether this metric decides the task"),
  direction,
  unit: t.anyText,
  seeds: t.listOf(t.seed),
  values: t.about(
    values,
    "the measured score per planned seed, disqualified attempts included; null if there is none",
  ),
  counted: t.about(
    values,
    "the value per planned seed that enters all aggregates: the score, the trivial baseline if that is better or the attempt failed, or null for a missing attempt",
  ),
  mean: t.about(
    t.numberOrNull,
    "intention to treat: over all attempts that are not missing; failed ones are scored at the trivial baseline",
  ),
  meanWithheld: t.about(t.nullable(whyNoMean), "why there is no mean; null if there is one"),
  measured: t.about(t.count, "attempts that are not missing"),
  planned: t.count,
  disqualified: t.count,
  rejected: t.count,
  undecided: t.about(
    t.count,
    "attempts with an undecided disqualifying rule, among those that enter the mean with their score",
  ),
  passInterval: t.about(
    t.nullable(t.pairOf(t.number)),
    "Wilson's 95 % interval of validN / measured; null if nothing was measured, too many are missing or attempts are repeats",
  ),
  validMean: t.about(
    t.numberOrNull,
    "mean of the counted values of scored attempts of which no disqualifying rule failed, undecided ones included",
  ),
  validN: t.count,
  validInterval: t.about(
    t.nullable(t.pairOf(t.number)),
    "Student-t, 95 %, of the mean of valid attempts, cut to the metric's range; conditional on being valid",
  ),
  validIntervalCut: t.about(
    t.nullable(t.wholeObject({ low: t.flag, high: t.flag })),
    "which ends were cut; null without an interval",
  ),
  validIntervalWithheld: t.nullable(whyNoInterval),
  belowBaseline: t.about(t.count, "valid attempts worse than the trivial baseline, which count as it"),
  identical: t.about(
    t.listOf(t.count),
    "sizes of the groups of valid attempts that submitted identical files",
  ),
  observations: t.about(
    t.count,
    "`measured`, with equal attempts of a deterministic agent, or of equal action sequences, as one",
  ),
  implausible: t.about(
    t.listOf(implausible),
    "valid attempts that beat each reference model of at most twice their size by more than five standard errors",
  ),
  errors,
  baseline: t.numberOrNull,
  baselineName: t.about(
    t.textOrNull,
    "the references row of the trivial baseline; null if task.yaml gives a number or nothing",
  ),
  reference: t.about(
    t.numberOrNull,
    "the value of the references row `referenceName`; null if there is no such row or it has no number",
  ),
  referenceName: t.about(t.textOrNull, "the row that task.yaml names as reference model; null if none"),
  referenceKind: t.about(t.nullable(referenceKind), "of that row; null if it is unknown"),
  normalised: t.about(
    values,
    "`counted` with the trivial baseline at 0 and the reference model at 1, not clipped; null with `normalisedWithheld`",
  ),
  normalisedMean: t.about(t.numberOrNull, "mean of `normalised`; null if there is no mean"),
  normalisedWithheld: t.about(
    t.textOrNull,
    "why there is no normalised scale, in words; null if there is one",
  ),
  notes: t.about(t.listOf(t.anyText), "why a number is missing or needs care"),
});
export type Cell = t.TypeOf<typeof cell>;
