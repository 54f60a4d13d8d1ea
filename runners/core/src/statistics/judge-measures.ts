// How a judge's answers agree with labels. An answer is closed (one of the question's) or open (no answer came of
// the votes). An open answer is neither right nor wrong, so rates are given without open answers, and once more
// with each counted against the judge.
import { openAnswers } from "@mlrb/formats/declared/rubric";
import type { Counted, Measures, Rate } from "@mlrb/formats/judged/judge-check";
import { wilsonInterval } from "./wilson-interval.ts";

/** `label`: null if nobody labelled it, so that it enters no number. `unanimous`: whether all votes were equal. */
export type JudgedAnswer = { label: string | null; answer: string; unanimous: boolean };

/** The closed answers of a question, and those of them that claim an absence. */
export type ClosedAnswers = { answers: readonly string[]; unquoted: readonly string[] };

export function judgeMeasures(found: readonly JudgedAnswer[], question: ClosedAnswers): Measures {
  const labelled = found.filter((one): one is JudgedAnswer & Pair => one.label !== null);
  const isClosed = ({ answer }: Pair) => question.answers.includes(answer);
  const absence = question.unquoted[0];
  const claims = question.answers.filter((one) => !question.unquoted.includes(one));
  const positive = question.answers.length === 2 && claims.length === 1 ? claims[0] : undefined;
  const decided = labelled.map((one) =>
    positive === undefined || isClosed(one) ? one : { ...one, answer: absence! },
  );
  const openOf = (open: string) => labelled.filter(({ answer }) => answer === open).length;
  return {
    labelled: labelled.length,
    open: Object.fromEntries(openAnswers.map((open) => [open, openOf(open)])),
    unanimous: rateOf(labelled.filter(({ unanimous }) => unanimous).length, labelled.length),
    closed: counted(labelled.filter(isClosed), positive),
    openCounted: counted(decided, positive),
  };
}

type Pair = { label: string; answer: string };

function counted(pairs: readonly Pair[], positive: string | undefined): Counted {
  const equal = pairs.filter(({ label, answer }) => label === answer).length;
  const detection = positive === undefined ? null : detected(pairs, positive);
  return { detection, agreement: rateOf(equal, pairs.length), kappa: cohenKappa(pairs) };
}

function detected(pairs: readonly Pair[], positive: string): Counted["detection"] {
  const count = (label: boolean, answer: boolean) =>
    pairs.filter((one) => (one.label === positive) === label && (one.answer === positive) === answer).length;
  const [truePositive, falseNegative] = [count(true, true), count(true, false)];
  const [falsePositive, trueNegative] = [count(false, true), count(false, false)];
  const [positives, negatives] = [truePositive + falseNegative, trueNegative + falsePositive];
  return {
    ...{ positive, truePositive, falsePositive, trueNegative, falseNegative },
    sensitivity: rateOf(truePositive, positives),
    specificity: rateOf(trueNegative, negatives),
    falseAlarms: rateOf(falsePositive, negatives),
    prevalence: rateOf(positives, pairs.length),
  };
}

/**
 * Agreement beyond chance (Cohen 1960): (observed − expected) / (1 − expected), −1 to 1. Null without pairs, and
 * where labels and answers are all one and the same, so that chance would always agree.
 */
export function cohenKappa(pairs: readonly Pair[]): number | null {
  const many = (side: keyof Pair, value: string) => pairs.filter((one) => one[side] === value).length;
  const labels = [...new Set(pairs.map(({ label }) => label))];
  const byChance = labels.reduce((sum, one) => sum + many("label", one) * many("answer", one), 0);
  const whole = pairs.length ** 2;
  if (byChance === whole) return null;
  const equal = pairs.filter(({ label, answer }) => label === answer).length;
  return (equal * pairs.length - byChance) / (whole - byChance);
}

export function rateOf(count: number, of: number): Rate {
  const interval = wilsonInterval(count, of);
  return interval ? { count, of, low: interval[0], high: interval[1] } : null;
}
