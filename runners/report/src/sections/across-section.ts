// Who is ahead over all tasks: by rank, and on a scale from the trivial baseline (0) to the reference model (1).

import type { Report } from "@mlrb/formats/report";
import type { AgentAcrossTasks } from "@mlrb/formats/report/across-tasks";
import { meanByBenchmark } from "../compare/by-benchmark.ts";
import { ofWholeTasks } from "../compare/ladder.ts";
import { metricOf } from "../units/shown-metric.ts";
import { normalisedError, rowError, supportedText } from "./digits-text.ts";
import { metricHead, taskTitle } from "./report-words.ts";
import { type Item, type Section, type Table, type TableCell, textCell } from "./table.ts";
import { column, noNumber, numeric, oneGroup, tableOf } from "./table-of.ts";

const digits = 2;

export function acrossSection(report: Report): Section {
  const { leftOut, agents, kind, ranked } = report.acrossTasks;
  return {
    heading: `Across tasks${report.smoke ? ` (${report.label})` : ""}`,
    caption:
      "Normalised scores of the metrics that decide the tasks: 0 is the trivial baseline, 1 is the reference model; " +
      "scores are not clipped. A mean over tasks needs reference models of one kind" +
      `${kind === null ? "" : ` (here: ${kind})`}; a task is also left out where the two are less than five standard ` +
      "errors apart. Over tasks: the mean of the tasks' means, the same with the tasks that one metric decides as one " +
      "benchmark, the range of the mean when one task at a time is left out, and the " +
      "interquartile mean, over the middle half of all attempts with the same weight for every task. The mean rank " +
      `needs no scale${ranked.length === 0 ? "" : ` (over ${ranked.join(", ")})`}: 1 is best.`,
    tables: [taskByTask(report), overTasks(report)],
    items: [
      ...leftOut.map(({ task, why }): Item => ({ head: taskTitle(report, task), text: `left out: ${why}` })),
      ...agents.flatMap((each) =>
        each.leftOut.map(({ task, why }): Item => ({ head: each.agent, text: `without ${task}: ${why}` })),
      ),
      ...notComparable(agents),
    ],
  };
}

function taskByTask(report: Report): Table {
  const { tasks, agents } = report.acrossTasks;
  const metricAt = ({ metric }: (typeof tasks)[number]) => metricOf(report, metric);
  const endsText = (row: (typeof tasks)[number]) => {
    const { digits } = metricAt(row);
    const own = report.rows.filter(({ task, metric }) => task === row.task && metric === row.metric);
    const baseline = supportedText(row.baseline, digits, own.find((each) => each.baseline)?.standardError);
    return `${baseline} to ${supportedText(row.reference, digits, rowError(own, row, row.referenceName))}`;
  };
  return tableOf("Task by task", oneGroup(tasks), [
    column("task", ({ task }) => task),
    column("metric", (row) => metricHead(metricAt(row))),
    numeric("baseline to reference", endsText),
    column("reference model", ({ referenceName }) => referenceName),
    ...agents.map((each) =>
      numeric(each.agent, (row: (typeof tasks)[number]) => {
        if (!each.tasks.includes(row.task)) return textCell("left out", "bad");
        const cell = cellOf(report, row, each.agent);
        return number(cell?.normalisedMean, cell && normalisedError(cell));
      }),
    ),
  ]);
}

function cellOf({ cells }: Report, { task, metric }: { task: string; metric: string }, agent: string) {
  return cells.find((one) => one.task === task && one.metric === metric && one.agent === agent);
}

/** The standard error of the agent's mean over tasks, from those that are known; null without any. */
function overTasksError(report: Report, { agent, tasks }: AgentAcrossTasks): number | null {
  const errors = report.acrossTasks.tasks.flatMap((row) => {
    const cell = tasks.includes(row.task) ? cellOf(report, row, agent) : undefined;
    return (cell && normalisedError(cell)) ?? [];
  });
  return errors.length === 0 ? null : Math.hypot(...errors) / tasks.length;
}

function overTasks(report: Report): Table {
  const { acrossTasks, tasks } = ofWholeTasks(report);
  const error = (each: AgentAcrossTasks) => overTasksError(report, each);
  const isEmpty = acrossTasks.tasks.length === 0 && acrossTasks.ranked.length === 0;
  return tableOf("Over tasks", oneGroup(isEmpty ? [] : acrossTasks.agents), [
    column("agent", ({ agent }) => agent),
    numeric("mean rank", ({ meanRank }) => number(meanRank)),
    numeric("tasks", (each) => `${each.tasks.length} of ${tasks.length}`),
    numeric("mean", (each) => number(each.mean, error(each))),
    numeric("mean by benchmark", (each) => number(meanByBenchmark(report, each).value, error(each))),
    numeric("without one task", (each) => rangeCell(each, error(each))),
    numeric("interquartile mean", (each) => number(each.interquartileMean, error(each))),
  ]);
}

function number(value: number | null | undefined, error?: number | null): TableCell {
  return value === null || value === undefined ? noNumber : textCell(supportedText(value, digits, error));
}

/** `error` of the mean over all tasks: without one of them it is about the same. */
function rangeCell({ leaveOneOut }: AgentAcrossTasks, error: number | null): TableCell {
  if (leaveOneOut.length === 0) return noNumber;
  const means = leaveOneOut.map(({ mean }) => mean);
  return textCell(
    [Math.min(...means), Math.max(...means)].map((end) => supportedText(end, digits, error)).join(" to "),
  );
}

/** Means over different tasks differ partly because of the tasks. */
function notComparable(agents: AgentAcrossTasks[]): Item[] {
  const byTasks = Map.groupBy(agents, ({ tasks }) => JSON.stringify(tasks));
  if (byTasks.size < 2) return [];
  const parts = [...byTasks.values()].map((same) => same.map(({ agent }) => agent).join(", "));
  return [{ head: "not comparable", text: `${parts.join(" with ")}: their means cover different tasks` }];
}
