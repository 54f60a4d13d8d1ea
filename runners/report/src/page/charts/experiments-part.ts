// An attempt's experiments over its time: what it tried, the value that it reported or measured, and whether it was
// kept. The values are the agent's own, on data that it chose: they are no scores.
import { formatDuration } from "@mlrb/core/text/units";
import type { Times } from "@mlrb/formats/times";
import * as Plot from "@observablehq/plot";
import { type Html, html } from "../html.ts";
import type { PageExperiment } from "../page-data.ts";
import { axisDomain, drawFigure } from "./draw-figure.ts";

type Timed = Times["attempts"][number];

type Experiments = {
  experiments: PageExperiment[];
  /** More than the page holds. */
  more: number;
  /** The metric of most of them; null if none has one. */
  metric: string | null;
  time: Timed | undefined;
};

/** Nothing without an experiment. */
export function experimentsPart({ experiments, more, metric, time }: Experiments): Html | false {
  if (experiments.length === 0) return false;
  const unlisted =
    more > 0 ? ` The page holds the first ${experiments.length} of ${experiments.length + more}.` : "";
  return html`<figure class="experiments"><figcaption>Experiments</figcaption>
<p class="caption">The agent's own values, on data that it chose; no scores of this benchmark. Filled: its decision says keep, accept, adopt or submit.${unlisted}</p>
${metric !== null && timeline(experiments, metric, time)}
<details><summary>Every experiment</summary><div class="scroll" role="group" tabindex="0" aria-label="experiments"><table><caption class="unseen">experiments</caption>
<thead><tr><th scope="col" class="number">at</th><th scope="col">what</th><th scope="col">metric</th><th scope="col">decision</th></tr></thead>
<tbody>${experiments.map(
    (one) =>
      html`<tr><th scope="row" class="number">${formatDuration(one.sinceStartMs)}</th><td>${one.what}</td><td>${metricWords(one)}</td><td>${one.decision ?? "–"}</td></tr>`,
  )}</tbody></table></div></details></figure>`;
}

function metricWords({ metric, source }: PageExperiment): string {
  if (metric === null) return "–";
  const { name, split, value } = metric;
  const how = source === "rule" ? " (measured)" : "";
  return `${name}${split === null ? "" : ` on ${split}`} ${value === null ? "without a value" : shortNumber(value)}${how}`;
}

export function shortNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(5)));
}

/** Of an agent's own words. */
function isKept({ decision }: Pick<PageExperiment, "decision">): boolean {
  return /^\s*(keep|kept|accept|adopt|submit)/i.test(decision ?? "");
}

/** Nothing with fewer than two values. */
function timeline(experiments: PageExperiment[], metric: string, time: Timed | undefined): Html | false {
  const measured = experiments.flatMap((one) =>
    one.metric?.name === metric && one.metric.value !== null
      ? [{ ...one, at: one.sinceStartMs / 1000, value: one.metric.value }]
      : [],
  );
  const best = time?.bestSoFar ?? [];
  if (measured.length + best.length < 2) return false;
  const end = Math.max(
    time?.wallSeconds ?? 0,
    ...measured.map(({ at }) => at),
    ...best.map(({ seconds }) => seconds),
  );
  const [unit, divisor] = end > 7200 ? ["hours", 3600] : end > 600 ? ["minutes", 60] : ["seconds", 1];
  const steps = best.length === 0 ? [] : [...best, { seconds: end, value: best.at(-1)!.value }];
  const dot = { x: ({ at }: { at: number }) => at / divisor, y: "value", r: 4.5, stroke: "var(--agent-1)" };
  const words = (one: (typeof measured)[number]) =>
    `${formatDuration(one.sinceStartMs)}: ${shortNumber(one.value)}${one.decision === null ? "" : `, ${one.decision}`}`;
  return drawFigure(`${metric} of its experiments: ${measured.map(words).join("; ")}`, {
    ...{ width: 440, height: 190, marginTop: 24, marginLeft: 60, marginBottom: 40, marginRight: 16 },
    x: { domain: [0, end / divisor], ticks: 6, label: unit },
    y: {
      domain: axisDomain(
        0.1,
        [...measured, ...best].map(({ value }) => value),
      ),
      ...{ ticks: 4, label: best.length > 0 ? `${metric} (line: best so far)` : metric },
    },
    marks: [
      Plot.line(steps, {
        ...{ x: ({ seconds }) => seconds / divisor, y: "value", curve: "step-after", stroke: "var(--line)" },
      }),
      Plot.dot(
        measured.filter((one) => !isKept(one)),
        { ...dot, fill: "var(--ground)", title: words },
      ),
      Plot.dot(measured.filter(isKept), { ...dot, fill: "var(--agent-1)", title: words }),
    ],
  });
}
