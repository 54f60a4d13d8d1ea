// The forest plot for a paper: that of the page with names for readers, a row for the mean over tasks, and below
// it the differences of means over tasks.
import { counted } from "@mlrb/core/text/counted";
import type { Report } from "@mlrb/formats/report";
import { differenceRows } from "../page/charts/difference-rows.ts";
import { differencesSvg } from "../page/charts/differences-svg.ts";
import { clipped } from "../page/charts/draw-figure.ts";
import { type ForestData, type ForestTask, forestData } from "../page/charts/forest-data.ts";
import { forestSvg } from "../page/charts/forest-svg.ts";
import { displayNames } from "./display-names.ts";
import { figurePdf } from "./pdf-figure.ts";

export const forestCaption =
  "Normalised score of each agent at each task: 0 is the trivial baseline, 1 the reference model, and better is to the " +
  "right. Large marks: mean over attempts, failed ones included; small marks: attempts, crosses: failed ones. Hollow " +
  "marks: a task without a normalised scale, where 1 is the best attempt. Lines: 95 % Student-t interval of the mean of " +
  "valid attempts, only where every attempt is valid; a line that leaves the figure is cut. Below: differences of means " +
  "over tasks between the leading agent and each other one, with the 95 % interval of the inverted permutation test " +
  "where there is one; right of 0 the leading agent is better.";

/** figures/scores.pdf; undefined if no task has a normalised scale. */
export async function forestFigure(report: Report): Promise<Buffer | undefined> {
  const data = paperForest(report);
  if (data.tasks.every(({ scale }) => scale === "own")) return undefined;
  const { agent: named } = displayNames(report);
  const differences = differenceRows(report);
  const pair = (first: string, second: string) => `${clipped(named(first))}\n− ${clipped(named(second))}`;
  return figurePdf(report, [
    forestSvg(data, "wide"),
    ...(differences.length > 0 ? [differencesSvg(differences, "wide", pair)] : []),
  ]);
}

/** The page's data with a row for each task with attempts, and last the mean over the tasks that have a common scale. */
export function paperForest(report: Report): ForestData {
  const names = displayNames(report);
  const data = forestData(report);
  const { agents, tasks } = report.acrossTasks;
  const across = agents.flatMap(({ agent, mean: at, tasks: own }) =>
    at === null || own.length < tasks.length ? [] : [{ agent, at, interval: null, words: "", seeds: [] }],
  );
  const mean: ForestTask = {
    ...{ task: `Mean of ${counted(tasks.length, "task")}`, metric: "", scale: "normalised", agents: across },
  };
  const shown = data.tasks.filter(({ metric }) => metric !== null);
  return {
    ...data,
    agents: data.agents.map(names.agent),
    tasks: [
      ...shown.map((each) => ({ ...each, task: names.task(each.task) })),
      ...(across.length > 0 ? [mean] : []),
    ].map((each) => ({
      ...each,
      agents: each.agents.map((cell) => ({ ...cell, agent: names.agent(cell.agent) })),
    })),
  };
}
