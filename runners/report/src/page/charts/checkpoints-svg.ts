// A task's figure over the budget as SVG: every attempt at its intermediate checkpoints, and every agent's mean.
import * as Plot from "@observablehq/plot";
import type { Html } from "../html.ts";
import { type CheckpointPoint, type CheckpointsData, checkpointsWords } from "./checkpoints-data.ts";
import {
  agentColour,
  agentShape,
  apart,
  axisDomain,
  clipped,
  drawFigure,
  pointMarks,
} from "./draw-figure.ts";

type Mean = CheckpointsData["means"][number];

export function checkpointsSvg(data: CheckpointsData, agents: string[]): Html {
  const domain = axisDomain(0.08, [
    ...data.points.map(({ value }) => value),
    ...data.means.map(({ mean }) => mean),
    ...(data.baseline === null ? [] : [data.baseline]),
  ]);
  const stroke = ({ agent }: Mean) => agentColour(agent, agents);
  return drawFigure(checkpointsWords(data), {
    height: 300,
    marginTop: 24,
    marginLeft: 60,
    marginRight: 130, // for the agents' names
    marginBottom: 46,
    x: {
      domain: [0, 1],
      ticks: data.shares.map(({ share }) => share),
      tickFormat: (share: number) => data.shares.find((one) => one.share === share)?.checkpoint ?? "",
      label: "share of the budget",
      labelAnchor: "center",
      labelArrow: "none",
    },
    y: {
      domain,
      ticks: 6,
      label: `${data.metric} (${data.unit}), ${data.direction} is better`,
      labelArrow: "none",
    },
    marks: [
      ...(data.baseline === null ? [] : baselineMarks(data.baseline)),
      Plot.line(data.means, { x: "share", y: "mean", z: "agent", stroke, strokeWidth: 2 }),
      ...pointMarks(data.points, agents, {
        x: "share",
        y: "value",
        symbol: ({ agent }) => agentShape(agent, agents),
        r: 5,
        title: ({ agent, seed, words }: CheckpointPoint) => `${agent}, seed ${seed}: ${words}`,
      }),
      Plot.text(agentNames(data.means, ((domain[1] - domain[0]) / 230) * 15), {
        x: "share",
        y: "at",
        text: ({ agent }: Mean) => clipped(agent),
        textAnchor: "start",
        dx: 10,
        fill: stroke,
      }),
    ],
  });
}

function baselineMarks(value: number): Plot.Markish[] {
  return [
    Plot.ruleY([value], { stroke: "var(--line)", strokeWidth: 2, strokeDasharray: "4 3" }),
    Plot.text([value], {
      y: (one: number) => one,
      x: 0,
      text: () => "trivial baseline",
      textAnchor: "start",
      dy: -8,
      dx: 4,
      fill: "currentColor",
    }),
  ];
}

/** A name at the end of each agent's line; names are at least `least` apart. */
function agentNames(means: Mean[], least: number): (Mean & { at: number })[] {
  const ends = [...Map.groupBy(means, ({ agent }) => agent).values()].map((own) => own.at(-1)!);
  return apart(ends, ({ mean }) => mean, least);
}
