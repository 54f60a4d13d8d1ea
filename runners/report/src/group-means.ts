// What agents reach on the parts of a task: subjects, paradigms, phenomena, subtasks. A failed attempt has no
// value for a part and the floor is one of the whole, so these are means over valid attempts, which flatter.
import { mean } from "@mlrb/core/statistics/mean";
import { counting } from "./cell.ts";
import { byText } from "./order.ts";
import type { Report } from "./report.ts";
import type { ValidMean } from "./valid-mean-cell.ts";

export type GroupMean = {
  task: string;
  metric: string;
  group: string;
  /** In this group; null where attempts differ in it. */
  items: number | null;
  /** One per agent that planned attempts at the task; `attempts` are those that are valid and have the group. */
  agents: ValidMean[];
};

/** Means by group of every task and metric that has groups, the primary metric first, groups by name. */
export function groupMeans(report: Report): GroupMean[] {
  return report.tasks.flatMap(({ name: task }) => {
    const cells = report.cells.filter((cell) => cell.task === task);
    const metrics = [...new Set(cells.map(({ metric }) => metric))];
    const agents = [...new Set(cells.map(({ agent }) => agent))];
    const attempts = report.attempts.filter((attempt) => attempt.task === task);
    return metrics.flatMap((metric) => {
      const scores = attempts.flatMap((attempt) => {
        const score = attempt.scores[metric];
        return score?.kind === "scored" && counting(attempt, metric).kind === "valid"
          ? [{ agent: attempt.agent, groups: score.groups }]
          : [];
      });
      const names = [...new Set(scores.flatMap(({ groups }) => Object.keys(groups)))].sort(byText);
      return names.map((group): GroupMean => {
        const having = scores.flatMap(({ agent, groups }) =>
          Object.hasOwn(groups, group) ? [{ agent, ...groups[group]! }] : [],
        );
        const counts = new Set(having.map(({ items }) => items));
        return {
          task,
          metric,
          group,
          items: counts.size === 1 ? [...counts][0]! : null,
          agents: agents.map((agent) => {
            const values = having.filter((each) => each.agent === agent).map(({ value }) => value);
            const planned = attempts.filter((attempt) => attempt.agent === agent).length;
            return { agent, attempts: values.length, planned, mean: mean(values) ?? null };
          }),
        };
      });
    });
  });
}
