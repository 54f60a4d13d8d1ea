// The last row of the forest plot as SVG: the difference of means over tasks, between the leading agent and each
// other one. Right of 0 the first agent of a pair is better.
import * as Plot from "@observablehq/plot";
import type { Html } from "../html.ts";
import type { DifferenceRow } from "./difference-rows.ts";
import { clipped, drawFigure } from "./draw-figure.ts";
import { forms, marginRight, type PlotForm } from "./forest-svg.ts";

/** The note of a row is above its mark, and in the narrow form below its pair: side by side they would overlap. */
const rowsOf = {
  wide: { rowHeight: 42, pairAt: 28, noteAt: 9, markAt: 28 },
  narrow: { rowHeight: 58, pairAt: 9, noteAt: 25, markAt: 44 },
} as const;

export function differencesSvg(
  rows: DifferenceRow[],
  form: PlotForm,
  pairText = (first: string, second: string) =>
    `${clipped(first, 14)}${form === "wide" ? "\n" : " "}− ${clipped(second, 14)}`,
): Html {
  const { width, marginLeft } = forms[form];
  const { rowHeight, pairAt, noteAt, markAt } = rowsOf[form];
  const wide = form === "wide";
  const ends = rows.flatMap(({ value, interval }) => [value, ...(interval ?? [])].map(Math.abs));
  const most = Math.max(...ends, 0.1) * 1.15;
  const placed = rows.map((row, index) => ({
    ...row,
    mark: index * rowHeight + markAt,
    named: index * rowHeight + pairAt,
    noted: index * rowHeight + noteAt,
    pair: pairText(row.first, row.second),
  }));
  const known = placed.filter(({ interval }) => interval !== null);
  const end = (at: 0 | 1) => (row: DifferenceRow) => row.interval![at];
  const stroke = "var(--accent)";
  return drawFigure(rows.map(({ words }) => words).join(". "), {
    width,
    height: rows.length * rowHeight + 48,
    marginTop: 4,
    marginLeft,
    marginRight,
    marginBottom: 44,
    x: {
      domain: [-most, most],
      ticks: wide ? 7 : 4,
      label: "difference of normalised means over tasks",
      labelAnchor: "center",
      labelArrow: "none",
      tickSize: 4,
    },
    y: { domain: [rows.length * rowHeight, 0], axis: null },
    marks: [
      Plot.ruleX([0], { stroke: "var(--line)", strokeDasharray: "3 3" }),
      Plot.ruleY(known, { y: "mark", x1: end(0), x2: end(1), stroke, strokeWidth: 2 }),
      Plot.dot(placed, { x: "value", y: "mark", r: 5.5, symbol: "diamond", fill: stroke, title: "words" }),
      Plot.text(placed, {
        x: -most,
        y: "named",
        dx: wide ? -14 : 0,
        textAnchor: wide ? "end" : "start",
        text: "pair",
        fontWeight: 600,
        fill: "currentColor",
      }),
      Plot.text(placed, {
        x: -most,
        y: "noted",
        dx: wide ? 4 : 0,
        textAnchor: "start",
        text: "note",
        fontSize: 11,
        fill: "var(--soft)",
      }),
    ],
  });
}
