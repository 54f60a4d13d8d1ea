// Where the time of an agent's attempts went: in model calls, in programs, in waits, and in neither.
import { formatDuration } from "@mlrb/core/text/units";
import type { Report } from "@mlrb/formats/report";
import type { Times } from "@mlrb/formats/times";
import * as Plot from "@observablehq/plot";
import { spentAt } from "../../paper/costs.ts";
import { plainText } from "../../read/plain-text.ts";
import { taskTitle } from "../../sections/report-words.ts";
import { type Html, html } from "../html.ts";
import { clipped, drawFigure } from "./draw-figure.ts";

type Timed = Times["attempts"][number];

/** `other`: the supervisor's own work, such as snapshots, and clocks that differ. */
const parts = [
  { name: "model", fill: "var(--h8)" },
  { name: "programs", fill: "var(--h5)" },
  { name: "waits", fill: "var(--h2)" },
  { name: "other", fill: "var(--rule)" },
] as const;

/** In seconds; null if any is unknown. */
function partsOf({ timeSpent, wallSeconds }: Timed): number[] | null {
  if (timeSpent === undefined || wallSeconds === null) return null;
  const known = [timeSpent.modelSeconds, timeSpent.programSeconds, timeSpent.waitSeconds];
  return [...known, Math.max(0, wallSeconds - known.reduce((sum, one) => sum + one, 0))];
}

export type AgentTime = { agent: string; known: number; of: number; seconds: number[]; total: number };

/** Means over the attempts whose parts are known; agents without such an attempt are left out. */
export function timeSpentAt(report: Report, times: Times, task: string): AgentTime[] {
  return report.agents.flatMap(({ name: agent }) => {
    const means = parts.map((_, part) =>
      spentAt(times, { task, agent }, (one) => partsOf(one)?.[part] ?? null),
    );
    const [{ known, of }] = means as [(typeof means)[number]];
    const seconds = means.map(({ mean }) => mean ?? 0);
    const total = seconds.reduce((sum, one) => sum + one, 0);
    return known === 0 || total === 0 ? [] : [{ agent, known, of, seconds, total }];
  });
}

/** Empty where no part is known. */
export function timeSpentPart(report: Report, times: Times): Html {
  const figures = report.tasks.flatMap(({ name }) => {
    const found = timeSpentAt(report, times, name);
    if (found.length === 0) return [];
    const title = plainText(taskTitle(report, name));
    return [html`<figure><figcaption>${title}</figcaption>\n${timeSpentSvg(found)}</figure>`];
  });
  if (figures.length === 0) return html``;
  return html`<section aria-labelledby="time-spent"><h2 id="time-spent">Where the time went</h2>
<p class="caption">Mean wall time of an attempt (n), by its trajectory. What overlaps counts once: as a wait, else as a model call, else as a program.</p>
<ul class="legend" aria-label="Parts of the time">${parts.map(({ name, fill }) => html`<li><span class="sign" style="color:${fill};-webkit-text-stroke:1px var(--line)" aria-hidden="true">■</span> ${name}</li>`)}</ul>
<div class="figures small">${figures}</div></section>
`;
}

/** Of one attempt; nothing where its parts are unknown. */
export function attemptTimePart(time: Timed): Html | false {
  const seconds = partsOf(time);
  const total = time.wallSeconds;
  if (seconds === null || total === null || total === 0) return false;
  const one = { agent: time.agent, known: 1, of: 1, seconds, total };
  return html`<figure><figcaption>Where the time went</figcaption>
${timeSpentSvg([one])}</figure>`;
}

const rowHeight = 62;

function timeSpentSvg(agents: AgentTime[]): Html {
  const most = Math.max(...agents.map(({ total }) => total));
  const rows = agents.map((one) => ({
    agent: one.agent,
    head: `${clipped(one.agent)}: ${formatDuration(one.total * 1000)} (${one.known === one.of ? one.of : `${one.known} of ${one.of}`})`,
    shares: parts.map(({ name }, part) => `${name} ${percent(one.seconds[part]!, one.total)}`).join(", "),
  }));
  const bars = agents.flatMap(({ agent, seconds }) =>
    parts.map(({ fill }, part) => ({ agent, seconds: seconds[part]!, fill })),
  );
  const text = { x: 0, y: "agent", textAnchor: "start" as const };
  return drawFigure(rows.map(({ head, shares }) => `${head}: ${shares}`).join("; "), {
    ...{ width: 400, height: agents.length * rowHeight + 5, margin: 1, marginTop: 4 },
    x: { domain: [0, most], axis: null },
    y: { domain: agents.map(({ agent }) => agent), padding: 0, axis: null },
    marks: [
      // of an agent's 62 pixels, 20 below its name and above the shares
      Plot.barX(bars, {
        ...{ x: "seconds", y: "agent", fill: "fill", stroke: "var(--line)" },
        ...{ insetTop: 18, insetBottom: 24 },
      }),
      Plot.text(rows, { ...text, text: "head", dy: -23, fontWeight: 600, fill: "currentColor" }),
      Plot.text(rows, { ...text, text: "shares", dy: 17, fontSize: 12, fill: "var(--soft)" }),
    ],
  });
}

function percent(part: number, whole: number): string {
  const share = (100 * part) / whole;
  return share > 0 && share < 1 ? "<1 %" : `${Math.round(share)} %`;
}
