// The forest plot for a paper: that of the page with names for readers, a row for the mean over tasks, and below
// it the differences of means over tasks.
import type { Report } from "@mlrb/formats/report";
import { type ForestData, forestData } from "../page/charts/forest-data.ts";
import { forestSvg } from "../page/charts/forest-svg.ts";
import { rankedData } from "../page/charts/ranked-data.ts";
import { rankedSvg } from "../page/charts/ranked-svg.ts";
import { displayNames } from "./display-names.ts";
import { figurePdf } from "./pdf-figure.ts";

export const forestCaption =
  "Normalised score of each agent at each task: 0 is the trivial baseline, 1 the reference model, and better is to the " +
  "right. Large marks: mean over attempts, failed ones included; small marks: attempts, crosses: failed ones. A task " +
  "without a normalised scale has its values as text. Lines: 95 % Student-t interval of the mean of valid attempts, only " +
  "where every attempt is valid; a line that leaves the figure is cut. Below: means over tasks, best first, with the 95 % " +
  "interval by Welch's degrees of freedom under the same condition, and the difference to the leading agent with the " +
  "95 % interval of the inverted permutation test where there is one.";

/** figures/scores.pdf; undefined if no task has a normalised scale. */
export async function forestFigure(report: Report): Promise<Buffer | undefined> {
  const data = paperForest(report);
  if (data.tasks.every(({ scale }) => scale === "own")) return undefined;
  const { agent: name } = displayNames(report);
  const ranked = rankedData(report, name);
  return figurePdf(report, [
    forestSvg(data, "wide"),
    ...(ranked.length > 0 ? [rankedSvg(report, ranked, { form: "wide", name, isLabelled: true })] : []),
  ]);
}

/** The page's data with a row for each task with attempts, under the names that readers know. */
export function paperForest(report: Report): ForestData {
  const names = displayNames(report);
  const data = forestData(report);
  const shown = data.tasks.filter(({ metric }) => metric !== null);
  return {
    ...data,
    agents: data.agents.map(names.agent),
    tasks: shown.map(({ task, agents, ...each }) => ({
      ...{ ...each, task: names.task(task) },
      agents: agents.map((cell) => ({ ...cell, agent: names.agent(cell.agent) })),
    })),
  };
}
