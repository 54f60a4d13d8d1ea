// A metric as tables print it. Bytes are printed in one unit for all attempts and reference models of a report: 516 ± 3 MB
// instead of 5.16e+8 ± 2966543. report.json and the CSV files keep bytes.

import type { Metric, Report } from "@mlrb/formats/report";
import { columnScale, type Digits } from "./column-scale.ts";

/** `unit` is the printed one. `headUnit` is set where it is not the metric's own, so that heads of tables must name it. */
export type ShownMetric = Omit<Metric, "digits" | "unit"> & {
  unit: string;
  headUnit: string | null;
  digits: Digits;
};

export function metricOf(report: Report, name: string): ShownMetric {
  const metric = storedMetric(report, name);
  const scale = metric.unit === "bytes" ? columnScale(valuesOf(report, name), "bytes") : undefined;
  if (scale === undefined) return { ...metric, headUnit: null };
  return { ...metric, unit: scale.unit, headUnit: scale.unit, digits: scale };
}

/** In its own unit, as CSV files have it. */
export function storedMetric(report: Report, name: string): Metric {
  const found = report.metrics.find((metric) => metric.name === name);
  if (!found) throw new Error(`bug: the report does not describe the metric ${name}`);
  return found;
}

/** A number of the metric in the printed unit, for axes. */
export function inShownUnit(value: number, { digits }: Pick<ShownMetric, "digits">): number {
  return typeof digits === "number" ? value : value / digits.divisor;
}

function valuesOf({ attempts, rows }: Report, name: string): number[] {
  const scores = attempts.flatMap((attempt) => {
    const score = attempt.scores[name];
    return score?.kind === "scored" ? [score.value] : [];
  });
  return [
    ...scores,
    ...rows.flatMap(({ metric, value }) => (metric === name && value !== null ? [value] : [])),
  ];
}
