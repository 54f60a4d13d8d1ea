// The score over time at a task as SVG: a line and a band for each agent, over the share of the budget.
import { formatDuration } from "@mlrb/core/text/units";
import type { Report } from "@mlrb/formats/report";
import * as Plot from "@observablehq/plot";
import type { AtShare, ScoreOverTime } from "../../compare/score-over-time.ts";
import { supportedText } from "../../sections/digits-text.ts";
import { atShareText, shareText } from "../../sections/over-time-table.ts";
import { baselineText } from "../../sections/report-words.ts";
import { inShownUnit, metricOf, type ShownMetric } from "../../units/shown-metric.ts";
import type { Html } from "../html.ts";
import { agentColour, agentLooks, axisDomain, drawFigure } from "./draw-figure.ts";

/** `name`: of an agent, for readers. `title`: before the metric, where no caption names the task. */
export function overTimeSvg(
  report: Report,
  found: ScoreOverTime,
  { width = 400, name = (agent: string) => agent, title = "" } = {},
): Html {
  const agents = report.agents.map(({ name: agent }) => agent);
  const metric = metricOf(report, found.metric);
  const shown = (value: number) => inShownUnit(value, metric);
  const baseline = found.cell?.baseline ?? null;
  const about = `${metric.name} (${metric.unit}), ${metric.direction} is better`;
  // a null is a gap of the line: nothing is measured there
  const points = found.agents.flatMap(({ at }) =>
    at.map((each) => ({
      ...each,
      value: each.mean === null ? null : shown(each.mean),
      low: each.range === null ? null : shown(each.range[0]),
      high: each.range === null ? null : shown(each.range[1]),
      words: `${name(each.agent)} at ${shareText(each.share)}: ${wordsOf(each, metric)}`,
    })),
  );
  type Point = (typeof points)[number];
  const isFailed = ({ none, failed, measured }: Point) => none + failed === measured;
  const known = points.filter(({ value }) => value !== null);
  const colour = ({ agent }: Point) => agentColour(agent, agents);
  const place = { x: "share", y: "value" };
  return drawFigure(overTimeWords(found, { metric, points, rows: report.rows }), {
    ...{ width, height: 270, marginTop: 26, marginLeft: 56, marginRight: 24, marginBottom: 58 },
    x: {
      domain: [0, 1],
      ticks: found.shares,
      tickFormat: (share: number) => tickText(share, found.budgetMs),
      label: "share of the budget",
      labelAnchor: "center",
      labelArrow: "none",
    },
    y: {
      domain: axisDomain(0.08, [
        ...known.flatMap(({ low, high }) => [low!, high!]),
        ...(baseline === null ? [] : [shown(baseline)]),
      ]),
      ticks: 5,
      grid: true,
      label: title === "" ? about : `${title}: ${metric.name}, ${metric.direction} is better`,
      labelArrow: "none",
    },
    marks: [
      ...(baseline === null ? [] : baselineMarks(shown(baseline))),
      Plot.areaY(points, {
        ...{ x: "share", y1: "low", y2: "high", z: "agent", fill: colour, fillOpacity: 0.16 },
      }),
      Plot.line(points, { ...place, z: "agent", stroke: colour, strokeWidth: 2 }),
      Plot.dot(
        known.filter((point) => !isFailed(point)),
        { ...place, ...agentLooks(agents), r: 5, stroke: "var(--ground)", title: "words" },
      ),
      Plot.dot(known.filter(isFailed), {
        ...{ ...place, r: 4.5, stroke: colour, strokeWidth: 2, symbol: "times", title: "words" },
      }),
    ],
  });
}

/** `25%`, and below it the hours. */
function tickText(share: number, budgetMs: number | null): string {
  if (budgetMs === null) return shareText(share);
  return `${shareText(share)}\n${formatDuration(share * budgetMs).replace(/ 0 [ms]$/, "")}`;
}

function wordsOf(at: AtShare, metric: ShownMetric): string {
  const range =
    at.range === null || at.range[0] === at.range[1]
      ? ""
      : `, from ${at.range.map((value) => supportedText(value, metric.digits, at.error)).join(" to ")}`;
  return `${atShareText(at, metric)}${range}`;
}

function baselineMarks(value: number): Plot.Markish[] {
  return [
    Plot.ruleY([value], { stroke: "var(--line)", strokeWidth: 2, strokeDasharray: "4 3" }),
    Plot.text([value], {
      ...{ y: (one: number) => one, x: 1, text: () => "trivial baseline", textAnchor: "end", dy: -8 },
      ...{ fill: "var(--soft)", fontSize: 11, stroke: "var(--ground)", strokeWidth: 3 },
    }),
  ];
}

/** The figure in words, for readers who do not see it. */
function overTimeWords(
  { cell, agents }: ScoreOverTime,
  {
    metric,
    points,
    rows,
  }: { metric: ShownMetric; points: { agent: string; words: string }[]; rows: Report["rows"] },
): string {
  return [
    `${metric.name} in ${metric.unit} over the budget, ${metric.direction} is better`,
    ...agents.map(({ agent }) =>
      points.flatMap((point) => (point.agent === agent ? [point.words] : [])).join("; "),
    ),
    ...(cell?.baseline == null ? [] : [`trivial baseline ${baselineText(cell, metric, rows)}`]),
  ].join(". ");
}
