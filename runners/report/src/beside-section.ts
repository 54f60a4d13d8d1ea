// What scorers measured beside their scores: what a model costs to use, its size and speed, how many ties or
// answers cut short. Nothing is decided by it; a score is read with it.
import { mean } from "@mlrb/core/statistics/mean";
import { counting } from "./cell.ts";
import { digitsText } from "./digits-text.ts";
import { byText } from "./order.ts";
import type { Report } from "./report.ts";
import { metricHead, metricOf, taskTitle } from "./report-words.ts";
import { type Section, textCell } from "./table.ts";
import { type ValidMean, validMeanCell } from "./valid-mean-cell.ts";

export type Beside = {
  task: string;
  metric: string;
  name: string;
  /** Means over the valid attempts that have it; null for none. */
  agents: ValidMean[];
};

/** One entry for each task, metric and name, names in code-unit order. */
export function beside(report: Report): Beside[] {
  return report.tasks.flatMap(({ name: task }) => {
    const attempts = report.attempts.filter((attempt) => attempt.task === task);
    const metrics = [
      ...new Set(report.cells.filter((cell) => cell.task === task).map(({ metric }) => metric)),
    ];
    const agents = report.agents.filter(({ name }) => attempts.some(({ agent }) => agent === name));
    return metrics.flatMap((metric) => {
      const valid = attempts.flatMap((attempt) => {
        const score = attempt.scores[metric];
        return score?.kind === "scored" && counting(attempt, metric).kind === "valid"
          ? [{ agent: attempt.agent, extra: new Map(Object.entries(score.extra)) }]
          : [];
      });
      const names = [...new Set(valid.flatMap(({ extra }) => [...extra.keys()]))].sort(byText);
      return names.map(
        (name): Beside => ({
          task,
          metric,
          name,
          agents: agents.map(({ name: agent }) => {
            const values = valid.flatMap((each) =>
              each.agent === agent && each.extra.has(name) ? [each.extra.get(name)!] : [],
            );
            const planned = attempts.filter((attempt) => attempt.agent === agent).length;
            return { agent, mean: mean(values) ?? null, attempts: values.length, planned };
          }),
        }),
      );
    });
  });
}

export function besideSection(report: Report): Section {
  const agents = report.agents.map(({ name }) => name);
  const all = beside(report);
  return {
    heading: `Measured beside the scores${report.smoke ? ` (${report.label})` : ""}`,
    caption:
      "Mean over the valid attempts (how many of those planned), in the units of the scorer's README. Seconds and " +
      "memory are the machine's.",
    tables: [
      {
        title: "",
        columns: [
          { head: "metric", rigid: false },
          { head: "beside it", rigid: false },
          ...agents.map((head) => ({ head, rigid: true })),
        ],
        groups: report.tasks
          .map(({ name }) => ({
            name,
            title: taskTitle(report, name),
            rows: all
              .filter(({ task }) => task === name)
              .map(({ metric, name: what, agents: means }) => [
                textCell(metricHead(metricOf(report, metric))),
                textCell(what),
                ...agents.map((agent) =>
                  validMeanCell(
                    means.find((each) => each.agent === agent),
                    shown,
                  ),
                ),
              ]),
          }))
          .filter(({ rows }) => rows.length > 0),
      },
    ],
    items: [],
  };
}

/** Whole numbers whole, others to four digits that count. */
function shown(value: number): string {
  return Number.isInteger(value) ? digitsText(value, 0) : String(Number(value.toPrecision(4)));
}
