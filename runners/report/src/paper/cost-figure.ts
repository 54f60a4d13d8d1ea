// Cost against score for a paper: what an attempt spent on average, and the normalised mean, for each task and
// agent.
import type { Report } from "@mlrb/formats/report";
import type { Times } from "@mlrb/formats/times";
import * as Plot from "@observablehq/plot";
import { costData, type TaskPoint } from "../page/charts/cost-data.ts";
import { agentLooks, axisDomain, clipped, drawFigure } from "../page/charts/draw-figure.ts";
import type { Html } from "../page/html.ts";
import { titleOf } from "./costs.ts";
import { displayNames } from "./display-names.ts";
import { drawnWidth, figurePdf } from "./pdf-figure.ts";

export const costCaption =
  "Cost against score: what an attempt of an agent at a task spent on average, by its ledger, and the normalised mean " +
  "score (0: trivial baseline, 1: reference model). Tasks without a normalised scale and unknown amounts are not drawn.";

/** figures/cost.pdf; undefined if no amount and score are known together. */
export async function costFigure(report: Report, times: Times): Promise<Buffer | undefined> {
  const drawing = costDrawing(report, times);
  return drawing && figurePdf(report, [drawing]);
}

const [plotWidth, plotHeight, nameSize, namesWidth] = [536, 324, 10, 120];

export function costDrawing(report: Report, times: Times): Html | undefined {
  const found = costData(report, times).find(({ tasks }) => tasks.length > 0);
  if (!found) return undefined;
  const points = found.tasks;
  const names = displayNames(report);
  const agents = report.agents.map(({ name }) => name);
  const x = axisDomain(0.04, [0, ...points.map(({ spent }) => spent)]);
  const y = axisDomain(0.06, [0, 1, ...points.map(({ score }) => score)]);
  const place = { x: "spent", y: "score" };
  const axis = { grid: true, ticks: 6 };
  return drawFigure("cost against score", {
    ...{ width: drawnWidth, marginLeft: drawnWidth - plotWidth - namesWidth, marginRight: namesWidth },
    ...{ height: plotHeight + 66, marginTop: 20, marginBottom: 46 },
    x: { ...axis, domain: x, label: `${titleOf(found.amount)} of an attempt, mean` },
    y: { ...axis, domain: y, label: "normalised score" },
    marks: [
      Plot.text(
        besides(points, ((x[1] - x[0]) / plotWidth) * namesWidth).flatMap((near) =>
          apart(near, ((y[1] - y[0]) / plotHeight) * nameSize),
        ),
        {
          ...{ x: "spent", y: "at", dx: 9, textAnchor: "start", fontSize: nameSize, fill: "var(--soft)" },
          ...{ stroke: "var(--ground)", strokeWidth: 3 },
          text: ({ task }: TaskPoint) => clipped(names.task(task)),
        },
      ),
      Plot.dot(points, { ...place, r: 5, ...agentLooks(agents) }),
    ],
  });
}

/** The points in groups whose names could be on each other: `least` is the width of a name. */
function besides(points: TaskPoint[], least: number): TaskPoint[][] {
  const groups: TaskPoint[][] = [];
  for (const point of points.toSorted((a, b) => a.spent - b.spent)) {
    const last = groups.at(-1)?.at(-1);
    if (last && point.spent - last.spent < least) groups.at(-1)!.push(point);
    else groups.push([point]);
  }
  return groups;
}

/** Names at their points, or further up where two would be closer than `least`. */
function apart(points: TaskPoint[], least: number): (TaskPoint & { at: number })[] {
  let last = Number.NEGATIVE_INFINITY;
  return points
    .toSorted((a, b) => a.score - b.score)
    .map((one) => {
      last = Math.max(one.score, last + least);
      return { ...one, at: last };
    });
}
