// A task's figure as SVG, drawn by Observable Plot when the page is made, so that the page needs no library.
// Colours come from the page's style, which knows light, dark and print.
import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { digitsText } from "../sections/digits-text.ts";
import { type FigureData, type FigureLine, type FigurePoint, figureWords } from "./figure-data.ts";
import { agentColour, clipped } from "./figure-looks.ts";
import { type Html, trusted } from "./html.ts";

const width = 560;
const rowHeight = 46;
const marginTop = 96; // the rows' names stand slanted there
const marginLeft = 110;
const marginRight = 110; // the last one's ends there

/** Agents get the page's colours `--agent-1` and on, in the report's order; shapes tell them apart as well. */
export function figureSvg(data: FigureData, agents: string[]): Html {
  const { document } = parseHTML("<html><body></body></html>");
  const colour = (agent: string) => agentColour(agent, agents);
  const names = new Map(agents.map((agent) => [agent, clipped(agent)]));
  const y = (agent: string) => names.get(agent)!;
  const shown = agents.filter((agent) => data.points.some((point) => point.agent === agent));
  const values = [...data.points.map(({ value }) => value), ...data.lines.map(({ value }) => value)];
  values.push(...data.means.flatMap(({ interval }) => interval ?? []));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  const title = ({ agent, seed, value, kind }: FigurePoint) =>
    `${agent}, seed ${seed}: ${digitsText(value, data.digits)}${kind === "failed" ? " (failed: scored at the trivial baseline)" : ""}`;
  const svg = Plot.plot({
    document: document as never, // linkedom's, which has what Plot asks of one
    width,
    style: { fontSize: "13px" },
    height: marginTop + Math.max(1, shown.length) * rowHeight + 50,
    marginTop,
    marginLeft,
    marginRight,
    marginBottom: 46,
    x: {
      domain: [low - room, high + room],
      label: `${data.metric} (${data.unit}), ${data.direction} is better`,
      labelAnchor: "center",
      labelArrow: "none",
      ticks: 6,
    },
    y: { domain: shown.map(y), label: null, tickSize: 0 },
    marks: [
      Plot.ruleX(data.lines, {
        x: "value",
        stroke: "var(--line)",
        strokeWidth: ({ marked }: FigureLine) => (marked ? 2 : 1),
        strokeDasharray: "4 3",
      }),
      Plot.text(spread(data.lines, (high - low + 2 * room) / (width - marginLeft - marginRight)), {
        x: "at",
        frameAnchor: "top",
        text: ({ name }: FigureLine) => clipped(name),
        rotate: -35,
        textAnchor: "start",
        dy: -8,
        fill: "currentColor",
      }),
      Plot.ruleY(
        data.means.filter(({ interval }) => interval !== null),
        {
          y: ({ agent }: { agent: string }) => y(agent),
          x1: ({ interval }: { interval: [number, number] }) => interval[0],
          x2: ({ interval }: { interval: [number, number] }) => interval[1],
          stroke: ({ agent }: { agent: string }) => colour(agent),
          strokeWidth: 2,
        },
      ),
      Plot.tickX(data.means, {
        x: "mean",
        y: ({ agent }: { agent: string }) => y(agent),
        stroke: ({ agent }: { agent: string }) => colour(agent),
        strokeWidth: 2,
      }),
      ...(["counts", "failed"] as const).map((kind) =>
        Plot.dot(
          data.points.filter((point) => point.kind === kind),
          {
            x: "value",
            y: ({ agent }: FigurePoint) => y(agent),
            stroke: ({ agent }: FigurePoint) => colour(agent),
            fill: kind === "counts" ? ({ agent }: FigurePoint) => colour(agent) : "none",
            fillOpacity: 0.45,
            symbol: kind === "counts" ? "circle" : "times",
            r: 6,
            title,
          },
        ),
      ),
    ],
    color: { type: "identity" },
  });
  // Plot names its groups, which have no role that could have a name; the whole is named instead
  for (const group of svg.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", figureWords(data));
  return trusted(svg.outerHTML);
}

/** Where rows lie close together, their names are moved apart; the lines stay where they are. `unit`: of a pixel. */
function spread<T extends { value: number }>(lines: T[], unit: number): (T & { at: number })[] {
  const sorted = [...lines].sort((a, b) => a.value - b.value);
  let last = Number.NEGATIVE_INFINITY;
  return sorted.map((line) => {
    last = Math.max(line.value, last + 20 * unit);
    return { ...line, at: last };
  });
}
