// The agents over all tasks as SVG: a bar for each, best first, on the forest plot's scale.
import type { Report } from "@mlrb/formats/report";
import * as Plot from "@observablehq/plot";
import type { Html } from "../html.ts";
import { agentColour, clipped, drawFigure } from "./draw-figure.ts";
import { forms, marginRight, type PlotForm, within } from "./forest-svg.ts";
import type { RankedAgent } from "./ranked-data.ts";

/** A note is below its bar; in the narrow form the name is above it. */
const rowsOf = {
  wide: { rowHeight: 34, nameAt: 9, barAt: 9, noteAt: 25 },
  narrow: { rowHeight: 82, nameAt: 10, barAt: 32, noteAt: 51 },
} as const;

/** `rows`: at least one. `isLabelled`: where no heading says what the bars are. */
export function rankedSvg(
  report: Report,
  rows: RankedAgent[],
  {
    form,
    name = (agent) => agent,
    isLabelled = false,
  }: { form: PlotForm; name?: (agent: string) => string; isLabelled?: boolean },
): Html {
  const { width, marginLeft } = forms[form];
  const { rowHeight, nameAt, barAt, noteAt } = rowsOf[form];
  const agents = report.agents.map(({ name: agent }) => agent);
  const ends = rows.flatMap(({ score, interval }) => [score, ...(interval ?? [])]).map(within);
  const domain: [number, number] = [Math.min(0, ...ends), Math.max(1, ...ends) * 1.05];
  const placed = rows.map((row, at) => {
    const score = within(row.score);
    const [low, high] = (row.interval ?? [row.score, row.score]).map(within) as [number, number];
    return {
      ...row,
      shown: row.score.toFixed(2),
      score,
      low,
      high,
      right: Math.max(score, high),
      top: at * rowHeight,
    };
  });
  const marginBottom = isLabelled ? 44 : 24;
  type Row = (typeof placed)[number];
  const at =
    (offset: number) =>
    ({ top }: Row) =>
      top + offset;
  const colour = ({ agent }: Row) => agentColour(agent, agents);
  const behind = { stroke: "var(--ground)", strokeWidth: 3 }; // so that no rule crosses the letters
  const text = { textAnchor: "start" as const, fill: "currentColor", fontWeight: 600, ...behind };
  return drawFigure(rows.map(({ words }) => words).join(". "), {
    ...{
      width,
      height: rows.length * rowHeight + 4 + marginBottom,
      marginTop: 4,
      marginLeft,
      marginRight,
      marginBottom,
    },
    x: {
      ...{
        domain,
        ticks: form === "wide" ? 7 : 4,
        label: isLabelled ? "normalised mean over tasks" : null,
        tickSize: 4,
      },
      ...{ labelAnchor: "center", labelArrow: "none" },
    },
    y: { domain: [rows.length * rowHeight, 0], axis: null },
    marks: [
      Plot.ruleX([0, 1], { stroke: "var(--line)", strokeDasharray: "3 3" }),
      Plot.rect(placed, {
        ...{ x1: 0, x2: "score", y1: at(barAt - 7), y2: at(barAt + 7) },
        ...{ fill: colour, fillOpacity: 0.55, title: "words" },
      }),
      Plot.ruleY(
        placed.filter(({ interval }) => interval !== null),
        { x1: "low", x2: "high", y: at(barAt), stroke: "currentColor", strokeWidth: 2 },
      ),
      Plot.text(placed, {
        ...text,
        x: "right",
        y: at(barAt),
        dx: 6,
        text: "shown",
      }),
      Plot.text(placed, {
        ...{ ...text, x: domain[0], y: at(nameAt), text: ({ agent }: Row) => clipped(name(agent)) },
        ...(form === "wide" && { textAnchor: "end", dx: -14 }),
      }),
      Plot.text(placed, {
        ...{ x: domain[0], y: at(noteAt), text: "note", textAnchor: "start", dx: 2, fontSize: 11 },
        ...{ fill: "var(--soft)", ...behind },
        ...(form === "narrow" && { lineWidth: 27, dy: -6, lineAnchor: "top" as const }),
      }),
    ],
  });
}
