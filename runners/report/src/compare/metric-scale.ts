// The scale of a task's metric from the trivial baseline (0) to the reference model (1), or why there is none.
import { type NotNormalised, normalisedScore, type Scale } from "@mlrb/core/statistics/normalised-score";
import type { Metric } from "@mlrb/formats/report";
import type { ReferenceRow } from "../read/parse-artifacts.ts";
import { sentenceNumber } from "../sections/digits-text.ts";
import type { Baseline, Reference } from "./baseline-of.ts";

export type MetricScale = { kind: "scale"; scale: Scale } | { kind: "none"; why: string };

/** `rows` are the task's references rows; the baseline's error is known if it is one of them. */
export function metricScale(
  metric: Metric,
  { baseline, reference, rows }: { baseline: Baseline; reference: Reference; rows: ReferenceRow[] },
): MetricScale {
  if (baseline.kind === "unavailable") return { kind: "none", why: baseline.why };
  if (reference.kind === "unavailable") return { kind: "none", why: reference.why };
  const scale: Scale = {
    baseline: baseline.value,
    reference: reference.value,
    direction: metric.direction,
    standardError: differenceError(baseline, reference, rows),
  };
  const found = normalisedScore(baseline.value, scale);
  if (found.kind === "normalised") return { kind: "scale", scale };
  const numbers: [string, string] = [
    sentenceNumber(metric, baseline.value, baselineError(baseline, rows)),
    sentenceNumber(metric, reference.value, reference.standardError),
  ];
  return { kind: "none", why: whyText(found.why, reference.name, numbers) };
}

/**
 * An upper bound of the standard error of reference − baseline: the sum of both errors. Rows hold no items, so
 * their difference cannot be paired. A baseline that is a number in task.yaml has no error.
 */
function differenceError(
  baseline: Extract<Baseline, { kind: "known" }>,
  reference: Extract<Reference, { kind: "known" }>,
  rows: ReferenceRow[],
): number | undefined {
  const own = baselineError(baseline, rows);
  if (own === null || own === undefined || reference.standardError === null) return undefined;
  return own + reference.standardError;
}

function baselineError({ name }: { name: string | null }, rows: ReferenceRow[]): number | null | undefined {
  return name === null ? 0 : rows.find((row) => row.name === name)?.standardError;
}

function whyText(why: NotNormalised, name: string, [low, high]: [string, string]): string {
  const reference = `the reference model ${name} (${high})`;
  const baseline = `the trivial baseline (${low})`;
  switch (why) {
    case "reference-not-better":
      return `${reference} is not better than ${baseline}`;
    case "reference-too-near":
      return `${reference} is less than five standard errors from ${baseline}`;
    case "error-unknown":
      return `the difference between ${reference} and ${baseline} has no known standard error`;
    case "out-of-range":
      return `the trivial baseline and the reference model ${name} are too large`;
  }
}
