// The rows of the forest plot for a paper, with the data of the page's plot. Pure.
import type { Report } from "@mlrb/formats/report";
import { type ForestCell, type ForestTask, forestData } from "../page/charts/forest-data.ts";
import { displayNames } from "./display-names.ts";

type ForestMark = {
  /** The agent's place in the report. */
  agent: number;
  mean: number;
  /** Attempts that count with their own score. */
  seeds: number[];
  /** Attempts that count as the trivial baseline. */
  failed: number[];
  /** Of the valid attempts, and only where all attempts are valid. */
  interval: [number, number] | null;
};

export type ForestRow = {
  title: string;
  marks: ForestMark[];
  /** `own`: no reference model gives a common scale; 0 is the trivial baseline, 1 the best attempt. */
  scale: ForestTask["scale"];
  /** What the row lacks; empty if it has a scale. */
  without: string;
  /** Agents without a mean, by their place in the report. */
  lacking: number[];
};

/** A row for each task with attempts, and last the mean over the tasks that have a common scale. */
export function forestRows(report: Report): ForestRow[] {
  const names = displayNames(report);
  const rows = forestData(report)
    .tasks.filter(({ metric }) => metric !== null)
    .map(({ task, scale, agents }): ForestRow => {
      const marks = agents.flatMap((cell, agent) => markOf(cell, agent));
      const lacking = agents.flatMap(({ at }, agent) => (at === null ? [agent] : []));
      const without = scale === "own" ? "no normalised scale" : "";
      return { title: names.task(task), marks, scale, without, lacking };
    });
  const { agents: across, tasks } = report.acrossTasks;
  const agents = report.agents.map(({ name }) => name);
  const marks = across.flatMap(({ agent, mean, tasks: own }): ForestMark[] =>
    mean === null || own.length < tasks.length
      ? []
      : [{ agent: agents.indexOf(agent), mean, seeds: [], failed: [], interval: null }],
  );
  if (marks.length === 0) return rows;
  const title = `Mean of ${tasks.length} ${tasks.length === 1 ? "task" : "tasks"}`;
  return [...rows, { title, marks, scale: "normalised", without: "", lacking: [] }];
}

function markOf({ at, interval, seeds }: ForestCell, agent: number): ForestMark[] {
  if (at === null) return [];
  const places = (isFailed: boolean) =>
    seeds.flatMap((seed) => (seed.at !== null && (seed.kind === "failed") === isFailed ? [seed.at] : []));
  return [{ agent, mean: at, seeds: places(false), failed: places(true), interval }];
}
