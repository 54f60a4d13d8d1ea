// How a judge's answers agree with labels. An answer is closed (one of the question's) or open (no answer came of
// the votes). An open answer is neither right nor wrong, so rates are given without open answers, and once more
// with each counted against the judge's claim.
import type { Detection, Measures, Rate } from "@mlrb/formats/judged/judge-check";
import { wilsonInterval } from "./wilson-interval.ts";

/** `unanimous`: whether all votes gave the same answer. */
export type LabelledAnswer = { label: string; answer: string; unanimous: boolean };

/** The closed answers of a question, and those of them that claim an absence. */
export type ClosedAnswers = { answers: readonly string[]; unquoted: readonly string[] };

/** Throws on a label that is no answer of the question. */
export function judgeMeasures(found: readonly LabelledAnswer[], question: ClosedAnswers): Measures {
  const { answers } = question;
  const stray = found.find(({ label }) => !answers.includes(label));
  if (stray) throw new Error(`bug: a label "${stray.label}", which is none of ${answers.join(", ")}`);
  const isClosed = ({ answer }: LabelledAnswer) => answers.includes(answer);
  const closed = found.filter(isClosed);
  const common = {
    labelled: found.length,
    unanimous: rateOf(found.filter(({ unanimous }) => unanimous).length, found.length),
    counts: countsOf(found),
  };
  const positive = positiveAnswer(question);
  if (positive === undefined) {
    const [agreement, agreementOfAll] = [agreementOf(closed), agreementOf(found)];
    return { ...common, kind: "choice", agreement, agreementOfAll, kappa: cohenKappa(closed) };
  }
  const negative = answers.find((one) => one !== positive)!;
  const decided = found.map((one) => (isClosed(one) ? one : { ...one, answer: negative }));
  const [first, second] = [detection(closed, positive), detection(decided, positive)];
  return { ...common, kind: "detection", positive, closed: first, openAsNegative: second };
}

/** The answer that claims a presence, where the only other one claims an absence. */
export function positiveAnswer({ answers, unquoted }: ClosedAnswers): string | undefined {
  const present = answers.filter((one) => !unquoted.includes(one));
  return answers.length === 2 && present.length === 1 ? present[0] : undefined;
}

type Pair = Pick<LabelledAnswer, "label" | "answer">;

function detection(pairs: readonly Pair[], positive: string): Detection {
  const count = (label: boolean, answer: boolean) =>
    pairs.filter((one) => (one.label === positive) === label && (one.answer === positive) === answer).length;
  const truePositive = count(true, true);
  const falsePositive = count(false, true);
  const trueNegative = count(false, false);
  const falseNegative = count(true, false);
  const [positives, negatives] = [truePositive + falseNegative, trueNegative + falsePositive];
  return {
    ...{ truePositive, falsePositive, trueNegative, falseNegative },
    sensitivity: rateOf(truePositive, positives),
    specificity: rateOf(trueNegative, negatives),
    falseAlarms: rateOf(falsePositive, negatives),
    agreement: agreementOf(pairs),
    prevalence: rateOf(positives, pairs.length),
    kappa: cohenKappa(pairs),
  };
}

function agreementOf(pairs: readonly Pair[]): Rate {
  return rateOf(pairs.filter(({ label, answer }) => label === answer).length, pairs.length);
}

/**
 * Agreement beyond chance (Cohen 1960): (observed − expected) / (1 − expected), −1 to 1. Null without pairs, and
 * where labels and answers are all one and the same, so that chance would agree always.
 */
export function cohenKappa(pairs: readonly Pair[]): number | null {
  const many = (side: keyof Pair, value: string) => pairs.filter((one) => one[side] === value).length;
  const values = new Set(pairs.map(({ label }) => label));
  const byChance = [...values].reduce((sum, one) => sum + many("label", one) * many("answer", one), 0);
  const whole = pairs.length ** 2;
  if (byChance === whole) return null;
  const equal = pairs.filter(({ label, answer }) => label === answer).length;
  return (equal * pairs.length - byChance) / (whole - byChance);
}

export function rateOf(count: number, of: number): Rate {
  const interval = wilsonInterval(count, of);
  return interval ? { count, of, low: interval[0], high: interval[1] } : null;
}

function countsOf(pairs: readonly Pair[]): Measures["counts"] {
  const all = Map.groupBy(pairs, ({ label, answer }) => JSON.stringify([label, answer]));
  return [...all.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, same]) => ({ label: same[0]!.label, answer: same[0]!.answer, count: same.length }));
}
