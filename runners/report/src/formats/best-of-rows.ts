// Rows of best-of.csv and profiles.csv.
import type { Report } from "@mlrb/formats/report";
import type { ResultRow } from "@mlrb/formats/report/result-tables";
import { headOf, metricColumns } from "./row-parts.ts";

export function bestOfRows(report: Report): ResultRow<"best-of">[] {
  const { cells = [], tasks = [] } = report.bestOf ?? {};
  return cells.map(({ task, agent, k, n, successes, groups, ...cell }) => {
    const { metric, success, devScorer } = tasks.find((one) => one.task === task)!;
    const groupsBy = (of: string) => groups.filter(({ by }) => by === of).length;
    const single = report.cells.find((one) => one.primary && one.task === task && one.agent === agent)!;
    return {
      ...{ ...headOf(report), task, agent, k, ...metricColumns(report, task, metric) },
      ...{ success, n, successes, pass_at_k: cell.passAtK },
      ...{ pass_ci_low: cell.passInterval?.[0] ?? null, pass_ci_high: cell.passInterval?.[1] ?? null },
      ...{ dev_scorer: devScorer, groups: groups.length, chosen_by_dev: groupsBy("dev") },
      ...{ missing: groupsBy("missing"), left_out: cell.leftOut },
      ...{
        chosen_seeds: groups.map(({ chosen }) => chosen ?? "-").join(" "),
        mean: cell.mean,
        single_mean: single.mean,
      },
      ...{ normalised_mean: cell.normalisedMean, p_better: cell.better },
      ...{
        better_ci_low: cell.betterInterval?.[0] ?? null,
        better_ci_high: cell.betterInterval?.[1] ?? null,
      },
      oracle_upper_bound: cell.oracle,
    };
  });
}

export function profileRows(report: Report): ResultRow<"profiles">[] {
  return (report.bestOf?.profiles ?? []).flatMap(({ agent, k, tasks, steps }) =>
    steps.map((step) => ({ ...headOf(report), agent, k, tasks: tasks.join(" "), ...step })),
  );
}
