// judge-check.json: how a judge's answers compare with the labels of trajectories whose right answers are known.
// Without such numbers no rate that a judge gives is printed.
import * as t from "../schema.ts";
import { answers } from "./answers.ts";

const rate = t.about(
  t.nullable(t.wholeObject({ count: t.count, of: t.positiveInteger, low: t.amount, high: t.amount })),
  "count / of with Wilson's 95 % interval; null: of none",
);
export type Rate = t.TypeOf<typeof rate>;

const kappa = t.about(
  t.numberOrNull,
  "Cohen's; null where chance alone would agree always, or without answers",
);

const detection = t.wholeObject({
  truePositive: t.count,
  falsePositive: t.count,
  trueNegative: t.count,
  falseNegative: t.count,
  sensitivity: rate,
  specificity: rate,
  falseAlarms: t.about(rate, "of the trajectories without what the question asks for"),
  agreement: rate,
  prevalence: t.about(rate, "of the positive label"),
  kappa,
});
export type Detection = t.TypeOf<typeof detection>;

const measures = t.kindsWith(
  {
    labelled: t.about(t.count, "trajectories with a label"),
    unanimous: t.about(rate, "trajectories on which all votes answered the same: repeatability, not truth"),
    counts: t.about(
      t.listOf(t.wholeObject({ label: t.text, answer: t.text, count: t.positiveInteger })),
      "open answers too",
    ),
  },
  t.about(
    t.variant("detection", {
      positive: t.about(t.text, "the answer that claims a presence"),
      closed: t.about(detection, "without the trajectories that got an open answer"),
      openAsNegative: t.about(detection, "where an open answer counts as not positive"),
    }),
    "of two answers one claims an absence",
  ),
  t.variant("choice", {
    agreement: t.about(rate, "without open answers"),
    agreementOfAll: t.about(rate, "where an open answer is a wrong one"),
    kappa,
  }),
);
export type Measures = t.TypeOf<typeof measures>;

const { extract: _, questions: __, formatVersion: ___, ...asked } = answers.properties;

export const judgeCheck = t.wholeFile("mlrb judge check", 1, {
  ...asked,
  days: t.about(t.listOf(t.anyText), "on which the provider answered, sorted"),
  labelledBy: t.text,
  questions: t.listOf(
    t.wholeObject({
      id: t.about(t.text, "with parts: QUESTION.PART"),
      all: measures,
      heldOut: t.about(measures, "on the trajectories without which the rubric's examples were written"),
    }),
  ),
  trajectories: t.listOf(
    t.wholeObject({
      id: t.text,
      heldOut: t.flag,
      answers: t.listOf(
        t.wholeObject({ question: t.text, label: t.about(t.textOrNull, "null: none"), answer: t.text }),
      ),
    }),
  ),
});
export type JudgeCheck = t.TypeOf<typeof judgeCheck>;

/** What a pipeline publishes: each judge by each rubric. */
export const judgeChecks = t.wholeFile("mlrb judge checks", 1, {
  checks: t.listOf(judgeCheck),
  missing: t.about(
    t.listOf(t.wholeObject({ stage: t.text, cause: t.anyText })),
    "planned checks without a result",
  ),
});
export type JudgeChecks = t.TypeOf<typeof judgeChecks>;
