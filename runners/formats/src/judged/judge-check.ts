// judge-check.json: how a judge's answers compare with the labels of trajectories whose right answers are known.
// Without such numbers no rate that a judge gives is printed.
import * as t from "../schema.ts";
import { answers } from "./answers.ts";

const rate = t.about(
  t.nullable(t.wholeObject({ count: t.count, of: t.positiveInteger, low: t.amount, high: t.amount })),
  "count / of with Wilson's 95 % interval; null: of none",
);
export type Rate = t.TypeOf<typeof rate>;

const detection = t.wholeObject({
  positive: t.about(t.text, "the answer that claims a presence"),
  ...{ truePositive: t.count, falsePositive: t.count, trueNegative: t.count, falseNegative: t.count },
  ...{ sensitivity: rate, specificity: rate },
  falseAlarms: t.about(rate, "of the trajectories whose label is the other answer"),
  prevalence: t.about(rate, "of the positive label, among all labels"),
});

const measures = t.wholeObject({
  question: t.about(t.text, "with parts: QUESTION.PART"),
  heldOut: t.about(t.flag, "only on trajectories without which the rubric's examples were written"),
  openCounted: t.about(t.flag, "open answers count as no claim, of several answers as wrong; else left out"),
  labelled: t.about(t.count, "trajectories with a label"),
  open: t.about(t.tableOf(t.count), "trajectories by open answer: cannot tell, unsupported, split"),
  unanimous: t.about(rate, "trajectories on which all votes were equal: repeatability, not truth"),
  detection: t.about(t.nullable(detection), "null unless one of two answers claims an absence"),
  agreement: rate,
  kappa: t.about(t.numberOrNull, "Cohen's; null where chance alone would always agree"),
});
export type Measures = t.TypeOf<typeof measures>;

const compared = t.wholeObject({
  ...{ trajectory: t.text, heldOut: t.flag, question: t.text, answer: t.text, unanimous: t.flag },
  label: t.about(t.textOrNull, "null: none"),
});

const { extract: _, questions: __, ...asked } = answers.properties;
export const judgeCheck = t.wholeObject({
  ...asked,
  days: t.about(t.listOf(t.anyText), "on which the provider answered, sorted"),
  labelledBy: t.text,
  measures: t.listOf(measures),
  answers: t.listOf(compared),
});
export type JudgeCheck = t.TypeOf<typeof judgeCheck>;

export const judgeChecks = t.wholeFile("mlrb judge check", 1, {
  checks: t.about(t.listOf(judgeCheck), "of each judge by each rubric"),
  missing: t.about(t.listOf(t.wholeObject({ stage: t.text, cause: t.anyText })), "checks without a result"),
});
export type JudgeChecks = t.TypeOf<typeof judgeChecks>;
