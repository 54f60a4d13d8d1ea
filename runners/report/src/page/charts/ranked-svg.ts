// The agents over all tasks as SVG: a bar for each, best first, on the forest plot's scale.
import type { Report } from "@mlrb/formats/report";
import * as Plot from "@observablehq/plot";
import type { Html } from "../html.ts";
import { agentLooks, clipped, drawFigure } from "./draw-figure.ts";
import { forms, highest, lowest, marginRight, type PlotForm } from "./forest-svg.ts";
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
  const ends = rows.flatMap(({ score, interval }) => [score, ...(interval ?? [])]);
  const domain: [number, number] = [
    Math.max(lowest, Math.min(0, ...ends)),
    Math.min(highest, Math.max(1, ...ends)) * 1.05,
  ];
  const marginBottom = isLabelled ? 44 : 24;
  /** `offset`: from the top of an agent's row. */
  const at = (offset: number) => ({ y: "agent", dy: offset - rowHeight / 2 });
  // the ground is behind the letters, so that no rule crosses them
  const text = { textAnchor: "start", stroke: "var(--ground)", strokeWidth: 3 } as const;
  const strong = { ...text, fill: "currentColor", fontWeight: 600 };
  return drawFigure(rows.map(({ words }) => words).join(". "), {
    ...{ width, height: rows.length * rowHeight + 4 + marginBottom },
    ...{ marginTop: 4, marginLeft, marginRight, marginBottom },
    x: {
      ...{ domain, clamp: true, ticks: form === "wide" ? 7 : 4, tickSize: 4 },
      label: isLabelled ? "normalised mean over tasks" : null,
    },
    y: { domain: rows.map(({ agent }) => agent), padding: 0, axis: null },
    marks: [
      Plot.ruleX([0, 1], { stroke: "var(--line)", strokeDasharray: "3 3" }),
      Plot.barX(rows, {
        ...{ x: "score", y: "agent", insetTop: barAt - 7, insetBottom: rowHeight - barAt - 7 },
        ...{ fill: agentLooks(report.agents.map(({ name: agent }) => agent)).fill, fillOpacity: 0.55 },
        title: "words",
      }),
      Plot.ruleY(rows, {
        ...{ x1: ({ interval }) => interval?.[0] ?? null, x2: ({ interval }) => interval?.[1] ?? null },
        ...{ ...at(barAt), stroke: "currentColor", strokeWidth: 2 },
      }),
      Plot.text(rows, {
        ...{ ...strong, ...at(barAt), dx: 6 },
        x: ({ score, interval }: RankedAgent) => Math.max(score, interval?.[1] ?? score),
        text: ({ score }: RankedAgent) => score.toFixed(2),
      }),
      Plot.text(rows, {
        ...{ ...strong, ...at(nameAt), x: domain[0] },
        text: ({ agent }: RankedAgent) => clipped(name(agent)),
        ...(form === "wide" && { textAnchor: "end", dx: -14 }),
      }),
      Plot.text(rows, {
        ...{ ...text, ...at(noteAt), x: domain[0], dx: 2 },
        ...{ text: "note", fontSize: 11, fill: "var(--soft)" },
        ...(form === "narrow" && { lineWidth: 27, dy: noteAt - rowHeight / 2 - 6, lineAnchor: "top" }),
      }),
    ],
  });
}
