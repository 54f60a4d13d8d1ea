// The score over time for a paper: the page's figures under the names that readers know, two in a row.
import type { Report } from "@mlrb/formats/report";
import { scoreOverTime } from "../compare/score-over-time.ts";
import { clipped } from "../page/charts/draw-figure.ts";
import { overTimeSvg } from "../page/charts/over-time.ts";
import { displayNames } from "./display-names.ts";
import { drawnWidth, figurePdf } from "./pdf-figure.ts";

export const overTimeCaption =
  "Score over time: mean score of the submissions as they were at a share of the budget, on the metric that decides the " +
  "task; the band spans all attempts. Failed attempts and those without a submission yet count as the trivial baseline " +
  "(dashed). A cross: no attempt had a valid submission. Tasks at which no submission changed are not drawn.";

/** figures/over-time.pdf; undefined if no submission changed over time. */
export async function overTimeFigure(report: Report): Promise<Buffer | undefined> {
  const names = displayNames(report);
  const drawn = report.tasks.flatMap(({ name }) => {
    const found = scoreOverTime(report, name);
    const look = { width: drawnWidth / 2, name: names.agent, title: clipped(names.task(name), 20) };
    return found ? [overTimeSvg(report, found, look)] : [];
  });
  if (drawn.length === 0) return undefined;
  const rows = drawn.flatMap((_, at) => (at % 2 === 0 ? [drawn.slice(at, at + 2)] : []));
  return figurePdf(report, rows);
}
