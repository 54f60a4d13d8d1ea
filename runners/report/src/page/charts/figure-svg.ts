// A task's figure as SVG: every attempt and every agent's mean, between the rows that they are compared with.
import * as Plot from "@observablehq/plot";
import type { Html } from "../html.ts";
import {
  agentColour,
  apart,
  axisDomain,
  clipped,
  drawFigure,
  figureWidth,
  pointMarks,
} from "./draw-figure.ts";
import { type FigureData, type FigureLine, type FigurePoint, figureWords } from "./figure-data.ts";

const rowHeight = 46;
const marginTop = 132; // for the rows' names, which are slanted
const marginLeft = 110;
const marginRight = 145; // for the end of the last name

export function figureSvg(data: FigureData, agents: string[]): Html {
  const shown = agents.filter((agent) => data.points.some((point) => point.agent === agent));
  const domain = axisDomain(0.06, [
    ...data.points.map(({ value }) => value),
    ...data.lines.map(({ value }) => value),
    ...data.means.flatMap(({ interval }) => interval ?? []),
  ]);
  const perPixel = (domain[1] - domain[0]) / (figureWidth - marginLeft - marginRight);
  return drawFigure(figureWords(data), {
    height: marginTop + Math.max(1, shown.length) * rowHeight + 50,
    marginTop,
    marginLeft,
    marginRight,
    marginBottom: 46,
    x: {
      domain,
      label: `${data.metric} (${data.unit}), ${data.direction} is better`,
      labelAnchor: "center",
      labelArrow: "none",
      ticks: 6,
    },
    y: { domain: shown, tickFormat: (name: string) => clipped(name), label: null, tickSize: 0 },
    marks: [
      ...lineMarks(data.lines, perPixel),
      ...meanMarks(data.means, agents),
      ...pointMarks(data.points, agents, {
        x: "value",
        y: rowOf,
        symbol: "circle",
        r: 6,
        title: ({ agent, seed, text, words }: FigurePoint) =>
          `${agent}, seed ${seed}: ${text}${words === "" ? "" : ` (${words})`}`,
      }),
      Plot.text(
        data.points.filter(({ implausible }) => implausible),
        { x: "value", y: rowOf, text: () => "?", dy: -13, fontWeight: "bold", fill: "currentColor" },
      ),
    ],
  });
}

function rowOf({ agent }: { agent: string }): string {
  return agent;
}

/** The lines stay where their values are; names of lines close together are moved apart. */
function lineMarks(lines: FigureLine[], perPixel: number): Plot.Markish[] {
  return [
    Plot.ruleX(lines, {
      x: "value",
      stroke: "var(--line)",
      strokeWidth: ({ marked }: FigureLine) => (marked ? 2 : 1),
      strokeDasharray: "4 3",
    }),
    Plot.text(
      apart(lines, ({ value }) => value, 20 * perPixel),
      {
        x: "at",
        frameAnchor: "top",
        text: lineLabel,
        title: ({ names }: FigureLine) => names.join(", "),
        rotate: -35,
        textAnchor: "start",
        dy: -8,
        fill: "currentColor",
      },
    ),
  ];
}

/** The first name in full where it fits, and how many more names the line has. */
function lineLabel({ names }: FigureLine): string {
  const [first, ...others] = names;
  const short = first!
    .replace("(reference model)", "(ref. model)")
    .replace("(trivial baseline)", "(baseline)");
  return `${clipped(short)}${others.length > 0 ? ` +${others.length}` : ""}`;
}

type Mean = FigureData["means"][number];

function meanMarks(means: Mean[], agents: string[]): Plot.Markish[] {
  const stroke = ({ agent }: Mean) => agentColour(agent, agents);
  return [
    Plot.ruleY(
      means.filter(({ interval }) => interval !== null),
      {
        y: rowOf,
        x1: ({ interval }: Mean) => interval![0]!,
        x2: ({ interval }: Mean) => interval![1]!,
        stroke,
        strokeWidth: 2,
      },
    ),
    Plot.tickX(means, { x: "mean", y: rowOf, stroke, strokeWidth: 2 }),
  ];
}
