// Rows of doses.csv.
import type { Report } from "@mlrb/formats/report";
import type { ResultRow } from "@mlrb/formats/report/result-tables";
import { headOf } from "./row-parts.ts";

export function doseRows(report: Report): ResultRow<"doses">[] {
  return (report.ladder?.curves ?? []).flatMap((curve) => {
    const { points, checkpoints, beats, equal, ...about } = curve;
    const told = points.map(({ level, dose, n, mean, interval }) => ({
      ...{ level, dose, n, mean, ci_low: interval?.[0] ?? null, ci_high: interval?.[1] ?? null },
      ...{ beats_baseline: beats.includes(level), equals_baseline: equal.includes(level) },
    }));
    const stood = checkpoints.map(({ share, n, mean }) => ({
      ...{ level: "checkpoint", dose: share, n, mean, ci_low: null, ci_high: null },
      ...{ beats_baseline: false, equals_baseline: false },
    }));
    return [...told, ...stood].map((row) => ({ ...headOf(report), ...about, ...row }));
  });
}
