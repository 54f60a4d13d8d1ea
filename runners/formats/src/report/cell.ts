// A cell of report.json: one number for a task, an agent and a metric, with the values behind it.

import { anchorKind } from "../judged/anchors.ts";
import { direction } from "../judged/score.ts";
import {
  anyText,
  count,
  flag,
  listOf,
  nullable,
  number,
  numberOrNull,
  oneOf,
  pairOf,
  seed,
  type TypeOf,
  textOrNull,
  wholeObject,
} from "../schema.ts";

const values = listOf(numberOrNull);
const whyNoMean = oneOf("nothing-measured", "floor-unknown", "out-of-range");
const whyNoInterval = oneOf(
  "no-values",
  "one-value",
  "no-spread",
  "out-of-range",
  "too-many-missing",
  "repeated",
);

const errors = {
  ...wholeObject({
    betweenAttempts: {
      ...numberOrNull,
      description: "sample standard deviation of the values that count; null for fewer than two",
    },
    overItems: {
      ...numberOrNull,
      description:
        "standard error of the valid mean over items, for these very submissions; 0 from an attempt worse than the trivial baseline",
    },
    overItemsIs: {
      ...nullable(oneOf("exact", "at-most")),
      description:
        "exact from the items of all attempts, at-most: an upper bound if these cannot be combined",
    },
  }),
  description: "of the valid attempts; two different errors, never added",
} as const;

const implausible = wholeObject({
  seed,
  row: { ...anyText, description: "the reference model that comes nearest" },
  standardErrors: {
    ...numberOrNull,
    description: "distance from that row, in the sum of both errors over items; null if both are 0",
  },
});

export const cell = wholeObject({
  task: anyText,
  agent: anyText,
  metric: anyText,
  primary: { ...flag, description: "whether this metric decides the task" },
  direction,
  unit: anyText,
  seeds: listOf(seed),
  values: {
    ...values,
    description: "the measured score per planned seed, disqualified attempts included; null if there is none",
  },
  counted: {
    ...values,
    description:
      "the value per planned seed that enters all aggregates: the score, the trivial baseline if that is better or the attempt failed, or null for a missing attempt",
  },
  mean: {
    ...numberOrNull,
    description:
      "intention to treat: over all attempts that are not missing; failed ones are scored at the trivial baseline",
  },
  meanWithheld: { ...nullable(whyNoMean), description: "why there is no mean; null if there is one" },
  measured: { ...count, description: "attempts that are not missing" },
  planned: count,
  struck: count,
  rejected: count,
  undecided: {
    ...count,
    description: "attempts with an undecided strike rule, among those that enter the mean with their score",
  },
  passInterval: {
    ...nullable(pairOf(number)),
    description:
      "Wilson's 95 % interval of validN / measured; null if nothing was measured, too many are missing or attempts are repeats",
  },
  validMean: {
    ...numberOrNull,
    description:
      "mean of the counted values of scored attempts of which no strike rule failed, undecided ones included",
  },
  validN: count,
  validInterval: {
    ...nullable(pairOf(number)),
    description:
      "Student-t, 95 %, of the mean of valid attempts, cut to the metric's range; conditional on being valid",
  },
  validIntervalCut: {
    ...nullable(wholeObject({ low: flag, high: flag })),
    description: "which ends were cut; null without an interval",
  },
  validIntervalWithheld: nullable(whyNoInterval),
  belowFloor: { ...count, description: "valid attempts worse than the trivial baseline, which count as it" },
  identical: {
    ...listOf(count),
    description: "sizes of the groups of valid attempts that submitted identical files",
  },
  observations: {
    ...count,
    description:
      "`measured`, with equal attempts of a deterministic agent, or of equal action sequences, as one",
  },
  implausible: {
    ...listOf(implausible),
    description:
      "valid attempts that beat each reference model of at most twice their size by more than five standard errors",
  },
  errors,
  floor: numberOrNull,
  floorName: {
    ...textOrNull,
    description: "the anchors row of the trivial baseline; null if task.yaml gives a number or nothing",
  },
  anchor: {
    ...numberOrNull,
    description:
      "the value of the anchors row `anchorName`; null if there is no such row or it has no number",
  },
  anchorName: { ...textOrNull, description: "the row that task.yaml names as reference model; null if none" },
  anchorKind: { ...nullable(anchorKind), description: "of that row; null if it is unknown" },
  normalised: {
    ...values,
    description:
      "`counted` with the trivial baseline at 0 and the reference model at 1, not clipped; null with `normalisedWithheld`",
  },
  normalisedMean: { ...numberOrNull, description: "mean of `normalised`; null if there is no mean" },
  normalisedWithheld: {
    ...textOrNull,
    description: "why there is no normalised scale, in words; null if there is one",
  },
  notes: { ...listOf(anyText), description: "why a number is missing or needs care" },
});
export type Cell = TypeOf<typeof cell>;
