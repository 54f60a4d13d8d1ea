// The last rows of a paper's main table: each agent's mean over tasks, and the same with the tasks that one metric
// decides as one benchmark. ± is descriptive: how much one attempt at each task varies, with the tasks fixed.

import { standardDeviation } from "@mlrb/core/statistics/mean";
import type { Report } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import { meanByBenchmark } from "../compare/by-benchmark.ts";
import { ofWholeTasks } from "../compare/ladder.ts";
import { digitsText } from "../sections/digits-text.ts";
import type { Digits } from "../units/column-scale.ts";

/** The sample standard deviation of the values that count; undefined for repeats, which are one observation. */
export function countedSpread({ counted, observations, measured }: Cell): number | undefined {
  if (observations < measured) return undefined;
  return standardDeviation(counted.filter((value) => value !== null));
}

/** ` ± 0.012`; a spread that is not 0 is never printed as 0. */
export function plusMinus(spread: number | undefined, digits: Digits, of: number): string {
  if (spread === undefined) return "";
  const text = digitsText(spread, digits, of);
  const isHidden = spread > 0 && Number(text) === 0 && typeof digits === "number";
  return ` ± ${isHidden ? `<${10 ** -digits}` : text}`;
}

/** None for fewer than two tasks with a normalised score. */
export function overTasksRows(report: Report): { label: string; cell: (agent: string) => string }[] {
  const { tasks, agents } = report.acrossTasks;
  const planned = ofWholeTasks(report).tasks.length;
  if (tasks.length < 2) return [];
  const many = tasks.length === planned ? "all" : `${tasks.length} of`;
  const row = (label: string, byBenchmark: boolean) => ({
    label,
    cell: (name: string) => {
      const found = agents.find(({ agent }) => agent === name);
      if (!found || found.mean === null) return "–";
      const cells = report.cells.filter(
        ({ primary, agent, task }) => primary && agent === name && found.tasks.includes(task),
      );
      const { value, n } = byBenchmark
        ? meanByBenchmark(report, found)
        : { value: found.mean, n: cells.length };
      // the tasks of one benchmark share its weight
      const sharing = ({ metric }: Cell) =>
        byBenchmark ? cells.filter((each) => each.metric === metric).length : 1;
      const parts = cells.map((cell) => normalisedSpread(cell) / (n * sharing(cell)));
      const spread = Math.hypot(...parts);
      const fewer = cells.length < tasks.length ? ` (${cells.length} tasks)` : "";
      return `${digitsText(value!, 2)}${plusMinus(Number.isNaN(spread) ? undefined : spread, 2, value!)}${fewer}`;
    },
  });
  return [row(`Mean over ${many} ${planned} tasks`, false), row("Mean by benchmark", true)];
}

/** NaN where it is unknown. */
function normalisedSpread(cell: Cell): number {
  return (countedSpread(cell) ?? Number.NaN) / Math.abs(cell.reference! - cell.baseline!);
}
