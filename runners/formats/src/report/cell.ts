// A cell of report.json: one number for a task, an agent and a metric, with what it was made of.

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
  "no-mean",
  "too-many-missing",
  "all-failed",
);

const errors = {
  ...wholeObject({
    betweenAttempts: {
      ...numberOrNull,
      description: "sample standard deviation of the attempts' values; null for fewer than two",
    },
    overItems: {
      ...numberOrNull,
      description: "standard error of the valid mean over items, for these very submissions",
    },
    overItemsIs: {
      ...nullable(oneOf("exact", "at-most")),
      description:
        "from the items of all attempts together, or, where these cannot be combined, an upper bound",
    },
  }),
  description: "of the valid attempts; two things, never added up",
} as const;

export const cell = wholeObject({
  task: anyText,
  agent: anyText,
  metric: anyText,
  primary: { ...flag, description: "whether the task is decided on this metric" },
  direction,
  unit: anyText,
  seeds: listOf(seed),
  values: {
    ...values,
    description: "the score per planned seed as measured, struck ones too; null where there is none",
  },
  counted: {
    ...values,
    description: "what enters the mean per planned seed: the value, the floor, or null for a missing attempt",
  },
  mean: {
    ...numberOrNull,
    description:
      "intention to treat: over all attempts that are not missing, those that failed counting as the floor",
  },
  meanWithheld: { ...nullable(whyNoMean), description: "why there is no mean; null where there is one" },
  interval: {
    ...nullable(pairOf(number)),
    description: "Student-t, 95 %, over attempts, cut to the metric's range",
  },
  intervalCut: {
    ...nullable(wholeObject({ low: flag, high: flag })),
    description: "which ends were cut; null where there is no interval",
  },
  intervalWithheld: nullable(whyNoInterval),
  measured: { ...count, description: "attempts that are not missing" },
  planned: count,
  struck: count,
  rejected: count,
  validMean: {
    ...numberOrNull,
    description: "mean over attempts that kept the rules and were scored",
  },
  validN: count,
  errors,
  floor: numberOrNull,
  floorName: {
    ...textOrNull,
    description: "the anchors row that the floor is; null where task.yaml gives a number or nothing",
  },
  anchor: {
    ...numberOrNull,
    description: "the value of the anchors row `anchorName`; null where there is none or it has no number",
  },
  anchorName: { ...textOrNull, description: "the row that task.yaml names; null where it names none" },
  normalised: {
    ...values,
    description:
      "`counted` with the floor at 0 and the anchor at 1, not clipped; null where `normalisedWithheld` says why",
  },
  normalisedMean: { ...numberOrNull, description: "of `normalised`; null where there is no mean" },
  normalisedWithheld: {
    ...textOrNull,
    description: "why there is no scale from floor to anchor, in words; null where there is one",
  },
  notes: { ...listOf(anyText), description: "why a number is missing or must be read with care" },
});
export type Cell = TypeOf<typeof cell>;
