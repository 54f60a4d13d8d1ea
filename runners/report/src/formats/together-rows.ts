// Rows of together.csv.
import type { Report } from "@mlrb/formats/report";
import type { ResultRow } from "@mlrb/formats/report/result-tables";
import { headOf, metricColumns } from "./row-parts.ts";

export function togetherRows(report: Report): ResultRow<"together">[] {
  return (report.together?.arms ?? []).flatMap(({ name, primary, sides }) =>
    sides.map(({ interval, budget, metric, limits: _, ...side }) => ({
      ...{
        ...headOf(report),
        arm: name,
        primary_arm: primary,
        ...side,
        ...metricColumns(report, side.task, metric),
      },
      ...{ ci_low: interval?.[0] ?? null, ci_high: interval?.[1] ?? null },
      budget_hours: budget?.timeMs === undefined ? null : budget.timeMs / 3_600_000,
      budget_machines: budget ? (budget.machines ?? 1) : null,
      ...{ budget_tokens: budget?.tokens ?? null, budget_dollars: budget?.dollars ?? null },
    })),
  );
}
