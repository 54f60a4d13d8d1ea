// Columns that several CSV files of a report share.
import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import { importedLine, importedText, uncheckedText, weakLimitsText } from "../read/attempt-marks.ts";
import { reportCondition } from "../read/condition-words.ts";
import { storedMetric } from "../units/shown-metric.ts";

/** The label of every row. */
export function headOf(report: Report) {
  return { label: report.label, warning: report.note, condition: reportCondition(report) ?? null };
}

export function metricColumns(report: Report, task: string, name: string) {
  const { unit, direction } = storedMetric(report, name);
  const primary = report.tasks.find((one) => one.name === task)?.primary === name;
  return { metric: name, primary, unit, direction };
}

/** Who made an attempt, and what a reader of any of its numbers must know. */
export function madeColumns(attempt: Attempt) {
  const { verdict, submission } = attempt;
  return {
    verdict: verdict.kind,
    submission,
    origin: textOrNull(importedText(attempt)),
    weak_limits: textOrNull(weakLimitsText(attempt)),
    skipped_checks: textOrNull(uncheckedText(attempt)),
  };
}

/** The origin of a number that rests on the attempts which `isOwn` selects. */
export function originOf({ attempts }: Report, isOwn: (attempt: Attempt) => boolean): string | null {
  return textOrNull(importedLine(attempts.filter(isOwn)));
}

export function textOrNull(text: string): string | null {
  return text === "" ? null : text;
}
