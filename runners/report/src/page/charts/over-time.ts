// The score over time: at each task a figure with a line and a band for each agent, over the share of the budget.
import { formatDuration } from "@mlrb/core/text/units";
import type { Report } from "@mlrb/formats/report";
import * as Plot from "@observablehq/plot";
import { type AtShare, type ScoreOverTime, scoreOverTime } from "../../compare/score-over-time.ts";
import { plainText } from "../../read/plain-text.ts";
import { atShareText, shareText } from "../../sections/checkpoints-section.ts";
import { supportedText } from "../../sections/digits-text.ts";
import { baselineText, taskTitle } from "../../sections/report-words.ts";
import { inShownUnit, metricOf, type ShownMetric } from "../../units/shown-metric.ts";
import { type Html, html } from "../html.ts";
import { agentLegend, agentLooks, axisDomain, drawFigure } from "./draw-figure.ts";

/** Only tasks at which an attempt's submission changed over time; nothing without any. */
export function overTimePart(report: Report): Html {
  const drawn = report.tasks.flatMap(({ name }) => {
    const found = scoreOverTime(report, name);
    if (!found) return [];
    return [
      html`<figure><figcaption>${plainText(taskTitle(report, name))}</figcaption>
${overTimeSvg(report, found)}
${found.cell?.baseline == null && html`<p class="bad">The trivial baseline is unknown: there is no mean where an attempt failed.</p>`}</figure>`,
    ];
  });
  if (drawn.length === 0) return html``;
  return html`<section aria-labelledby="over-time"><div class="title"><h2 id="over-time">Score over time</h2> ${agentLegend(report.agents.map(({ name }) => name))}</div>
<div class="figures small">${drawn}</div>
<p class="caption">Mean score of the submissions as they were at a share of the budget; the band spans all attempts (n: tab Over time). A cross: no attempt had a valid submission.</p></section>
`;
}

/** `name`: of an agent, for readers. `title`: before the metric, where no caption names the task. */
export function overTimeSvg(
  report: Report,
  found: ScoreOverTime,
  { width = 400, name = (agent: string) => agent, title = "" } = {},
): Html {
  const agents = report.agents.map(({ name: agent }) => agent);
  const metric = metricOf(report, found.metric);
  const shown = (value: number | null | undefined) => (value == null ? null : inShownUnit(value, metric));
  const baseline = shown(found.cell?.baseline);
  const about = `${metric.name} (${metric.unit}), ${metric.direction} is better`;
  // a null is a gap of the line: nothing is measured there
  const points = found.agents.flatMap(({ at }) =>
    at.map((each) => ({
      ...each,
      value: shown(each.mean),
      low: shown(each.range?.[0]),
      high: shown(each.range?.[1]),
      words: `${name(each.agent)} at ${shareText(each.share)}: ${wordsOf(each, metric)}`,
    })),
  );
  type Point = (typeof points)[number];
  const isFailed = ({ none, failed, measured }: Point) => none + failed === measured;
  const known = points.filter(({ value }) => value !== null);
  const looks = agentLooks(agents);
  const place = { x: "share", y: "value" };
  // the figure in words, for readers who do not see it
  const words = [
    `${metric.name} in ${metric.unit} over the budget, ${metric.direction} is better`,
    ...found.agents.map(({ agent }) =>
      points.flatMap((point) => (point.agent === agent ? [point.words] : [])).join("; "),
    ),
    ...(found.cell && baseline !== null
      ? [`trivial baseline ${baselineText(found.cell, metric, report.rows)}`]
      : []),
  ];
  return drawFigure(words.join(". "), {
    ...{ width, height: 270, marginTop: 26, marginLeft: 56, marginRight: 24, marginBottom: 58 },
    x: {
      domain: [0, 1],
      ticks: found.shares,
      tickFormat: (share: number) => tickText(share, found.budgetMs),
      label: "share of the budget",
    },
    y: {
      domain: axisDomain(0.08, [
        ...known.flatMap(({ low, high }) => [low!, high!]),
        ...(baseline === null ? [] : [baseline]),
      ]),
      ticks: 5,
      grid: true,
      label: title === "" ? about : `${title}: ${metric.name}, ${metric.direction} is better`,
    },
    marks: [
      ...(baseline === null ? [] : baselineMarks(baseline)),
      Plot.areaY(points, {
        ...{ x: "share", y1: "low", y2: "high", z: "agent", fill: looks.fill, fillOpacity: 0.16 },
      }),
      Plot.line(points, { ...place, z: "agent", stroke: looks.fill, strokeWidth: 2 }),
      Plot.dot(
        known.filter((point) => !isFailed(point)),
        { ...place, ...looks, r: 5, stroke: "var(--ground)", title: "words" },
      ),
      Plot.dot(known.filter(isFailed), {
        ...{ ...place, r: 4.5, stroke: looks.fill, strokeWidth: 2, symbol: "times", title: "words" },
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
