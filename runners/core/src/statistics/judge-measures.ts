// How a judge's answers agree with labels. An answer is closed (one of the question's) or open (no answer came of
// the votes). An open answer is neither right nor wrong, so rates are given without open answers, and once more
// with each counted against the judge.
import { openAnswers } from "@mlrb/formats/declared/rubric";
import type { Measures, Rate } from "@mlrb/formats/judged/judge-check";
import { wilsonInterval } from "./wilson-interval.ts";

/** `label`: null if nobody labelled it, so that it enters no number. `unanimous`: whether all votes were equal. */
export type JudgedAnswer = { label: string | null; answer: string; unanimous: boolean };

/** The closed answers of a question, and those of them that claim an absence. */
export type ClosedAnswers = { answers: readonly string[]; unquoted: readonly string[] };

/** Without open answers, then with them. */
export function judgeMeasures(
  found: readonly JudgedAnswer[],
  { answers, unquoted }: ClosedAnswers,
): Omit<Measures, "question" | "heldOut">[] {
  const labelled = found.filter((one): one is JudgedAnswer & Pair => one.label !== null);
  const isClosed = ({ answer }: Pair) => answers.includes(answer);
  const [absence, ...absences] = answers.filter((one) => unquoted.includes(one));
  const isDetection = answers.length === 2 && absences.length === 0;
  const positive = isDetection && absence !== undefined ? answers.find((one) => one !== absence) : undefined;
  const noClaim = ({ answer, ...one }: (typeof labelled)[number]) => ({
    ...one,
    answer: isClosed({ ...one, answer }) || positive === undefined ? answer : absence!,
  });
  const openOf = (open: string) => labelled.filter(({ answer }) => answer === open).length;
  const labelledAs = (text: string) =>
    rateOf(labelled.filter(({ label }) => label === text).length, labelled.length);
  const common = {
    labelled: labelled.length,
    open: Object.fromEntries(openAnswers.map((open) => [open, openOf(open)])),
    unanimous: rateOf(labelled.filter(({ unanimous }) => unanimous).length, labelled.length),
  };
  return [labelled.filter(isClosed), labelled.map(noClaim)].map((pairs, at) => ({
    ...{ openCounted: at === 1, ...common },
    detection:
      positive === undefined ? null : { ...detected(pairs, positive), prevalence: labelledAs(positive) },
    agreement: rateOf(pairs.filter(({ label, answer }) => label === answer).length, pairs.length),
    kappa: cohenKappa(pairs),
  }));
}

type Pair = { label: string; answer: string };

function detected(pairs: readonly Pair[], positive: string) {
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
  };
}

/**
 * Agreement beyond chance (Cohen 1960): (observed − expected) / (1 − expected), −1 to 1. Null without pairs, and
 * where labels and answers are all one and the same, so that chance would always agree.
 */
export function cohenKappa(pairs: readonly Pair[]): number | null {
  const many = (is: (one: Pair) => boolean) => pairs.filter(is).length;
  const labels = [...new Set(pairs.map(({ label }) => label))];
  const byChance = labels
    .map((text) => many(({ label }) => label === text) * many(({ answer }) => answer === text))
    .reduce((sum, one) => sum + one, 0);
  const whole = pairs.length ** 2;
  if (byChance === whole) return null;
  return (many(({ label, answer }) => label === answer) * pairs.length - byChance) / (whole - byChance);
}

export function rateOf(count: number, of: number): Rate {
  const interval = wilsonInterval(count, of);
  return interval ? { count, of, low: interval[0], high: interval[1] } : null;
}
