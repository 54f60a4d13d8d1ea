// What agents reach on the parts of a task: subjects, paradigms, phenomena, subtasks.

import type { Report } from "@mlrb/formats/report";
import { meansByName } from "./means-by-name.ts";
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
  return meansByName(report, ({ groups }) => Object.entries(groups)).map(
    ({ task, metric, name, parts, agents }): GroupMean => {
      const counts = new Set(parts.map(({ items }) => items));
      return { task, metric, group: name, items: counts.size === 1 ? [...counts][0]! : null, agents };
    },
  );
}
