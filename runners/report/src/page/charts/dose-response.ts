// Dose and response: for each task and kind of change a figure with a line for each agent over the dose, and a dashed
// one of attempts at the whole task as they stood at a share of their time. These are two curves and never one.
import { wholeLevel } from "@mlrb/core/spec/task-level";
import type { Report } from "@mlrb/formats/report";
import type { DoseCurve } from "@mlrb/formats/report/ladder";
import * as Plot from "@observablehq/plot";
import { doseGroups } from "../../compare/ladder.ts";
import { metricOf } from "../../units/shown-metric.ts";
import { type Html, html } from "../html.ts";
import { agentLegend, agentLooks, axisDomain, drawFigure } from "./draw-figure.ts";

export function dosePart(report: Report): Html {
  const groups = doseGroups(report);
  if (groups.length === 0) return html``;
  return html`<section aria-labelledby="doses"><div class="title"><h2 id="doses">Score by difficulty</h2> ${agentLegend(report.agents.map(({ name }) => name))}</div>
<div class="figures small">${groups.map((curves) => html`<figure>${doseSvg(report, curves)}</figure>`)}</div>
<p class="caption">Lines: attempts that were told of the level; bars span Student-t intervals, 95 %. Dashed: attempts at the whole task as they stood at that share of their time, which did not know of a shorter one. Grey: the trivial baseline of each level. It is 0 in normalised scores, where 1 is the level's reference model; scores are in the metric's unit where a level has no reference.</p></section>
`;
}

/** `name`: of an agent, for readers. */
export function doseSvg(
  report: Report,
  curves: readonly DoseCurve[],
  { width = 400, name = (agent: string) => agent } = {},
): Html {
  const [{ task, of, unit, metric, scaled }] = curves as [DoseCurve];
  const points = curves.flatMap(({ agent, points }) =>
    points.flatMap(({ dose, mean, interval, n, level }) => {
      if (mean === null) return [];
      const [low, high] = interval ?? [mean, mean];
      const words = `${name(agent)} at ${level}: ${mean.toFixed(2)} (n ${n})`;
      return [{ agent, dose, mean, low, high, words }];
    }),
  );
  const stood = curves.flatMap(({ agent, checkpoints }) =>
    checkpoints.map(({ share, mean, n }) => ({
      ...{ agent, dose: share, mean },
      words: `${name(agent)}, whole task at ${Math.round(100 * share)} % of its time: ${mean.toFixed(2)} (n ${n})`,
    })),
  );
  const whole = curves.flatMap(({ points }) => points).find(({ level }) => level === wholeLevel);
  const baselineAt = new Map(curves.flatMap(({ points }) => points.map((one) => [one.dose, one.baseline])));
  const baselines = [...baselineAt].map(([dose, baseline]) => ({ dose, baseline }));
  const looks = agentLooks(report.agents.map(({ name }) => name));
  const { name: metricName, headUnit, direction } = metricOf(report, metric);
  const unscaled = `${metricName}${headUnit ? `, ${headUnit}` : ""} (${direction} is better)`;
  const scale = scaled ? "normalised score" : unscaled;
  const words = [
    `${task}: ${scale} by ${of} (${unit})`,
    ...points.map(({ words }) => words),
    ...stood.map(({ words }) => words),
  ];
  const doses = [...points, ...stood].map(({ dose }) => dose);
  const line = { x: "dose", y: "mean", z: "agent", stroke: looks.fill };
  return drawFigure(words.join(". "), {
    ...{ width, height: 270, marginTop: 26, marginLeft: 56, marginRight: 36, marginBottom: 48 },
    x: {
      type: Math.min(...doses) > 0 ? "log" : "linear",
      ticks: [...new Set(points.map(({ dose }) => dose))],
      tickFormat: (dose: number) => `${Number(dose.toPrecision(2))}${dose === whole?.dose ? " (whole)" : ""}`,
      label: unit,
    },
    y: {
      domain: axisDomain(0.08, [
        ...baselines.flatMap(({ baseline }) => baseline ?? []),
        ...points.flatMap(({ low, high }) => [low, high]),
        ...stood.map(({ mean }) => mean),
      ]),
      ...{ ticks: 5, grid: true, label: `${task} by ${of}: ${scale}` },
    },
    marks: [
      Plot.line(baselines, {
        ...{ x: "dose", y: "baseline", sort: "dose" },
        ...{ stroke: "var(--line)", strokeWidth: 2, strokeDasharray: "4 3" },
      }),
      Plot.ruleX(points, { x: "dose", y1: "low", y2: "high", stroke: looks.fill, strokeWidth: 1.5 }),
      Plot.line(stood, { ...line, strokeWidth: 1.5, strokeDasharray: "5 4" }),
      Plot.line(points, { ...line, strokeWidth: 2 }),
      Plot.dot(points, { x: "dose", y: "mean", ...looks, r: 5, stroke: "var(--ground)", title: "words" }),
    ],
  });
}
