// The origin of each mean of the main table: its attempts, the value that each contributed, and the stage instance
// that measured it, with a link.

import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { counting } from "../compare/counting.ts";
import { importedMark } from "../read/attempt-marks.ts";
import { placeKey } from "../read/planned-places.ts";
import { meanError, rateText, rowError, scoreError, supportedText } from "../sections/digits-text.ts";
import { metricHead } from "../sections/report-words.ts";
import { validText } from "../sections/valid-text.ts";
import { metricOf } from "../units/shown-metric.ts";
import { type Html, html } from "./html.ts";
import type { PageInstance } from "./page-data.ts";
import { aboutId, attemptId, instanceId } from "./section-html.ts";

export function numbersPart(report: Report, instances: PageInstance[]): Html {
  const scores = new Map(
    instances
      .filter(({ role }) => role === "score")
      .map(({ axes, id }) => [placeKey([axes.task, axes.agent, axes.seed, axes.scorer]), id]),
  );
  return html`<section aria-labelledby="numbers"><h2 id="numbers">Where each mean comes from</h2>
<p class="caption">Each score leads to the stage that measured it: its script, inputs, machine and the command that repeats it.</p>
${report.cells.map((cell) => cellPart(cell, report, scores))}
</section>
`;
}

function cellPart(cell: Cell, report: Report, scores: Map<string, string>): Html {
  const { task, agent, metric: name } = cell;
  const metric = metricOf(report, name);
  const shown = (value: number | null, error = meanError(cell)) =>
    value === null ? "–" : supportedText(value, metric.digits, error);
  const baselineError = rowError(report.rows, cell, cell.baselineName);
  const attempts = report.attempts.filter((attempt) => attempt.task === task && attempt.agent === agent);
  const rows = attempts.map((attempt, at) => {
    const from = scores.get(placeKey([task, agent, attempt.seed, name]));
    const counted = cell.counted[at] ?? null;
    const error = scoreError(attempt.scores[name]);
    const value = shown(cell.values[at] ?? null, error);
    const implausible = cell.implausible.some(({ seed }) => seed === attempt.seed) ? "; implausible" : "";
    const isOwn = cell.values[at] === counted;
    const below = isOwn ? "" : "; worse than the trivial baseline";
    return html`<tr><th scope="row"><a href="#${attemptId(task, agent, attempt.seed)}">seed ${attempt.seed}</a>${importedMark([attempt])}</th>
<td class="number">${from === undefined ? value : html`<a href="#${instanceId(from)}">${value}</a>`}</td>
<td class="number">${shown(counted, isOwn ? error : baselineError)}</td><td>${wayText(attempt, name, `${below}${implausible}`)}</td></tr>`;
  });
  const passed =
    cell.measured === 0
      ? ""
      : ` Pass rate ${rateText(cell.validN / cell.measured, cell.passInterval)} (Wilson's 95 % interval).`;
  const valid =
    cell.validMean === null
      ? ""
      : ` Valid attempts, conditional on being valid: ${validText(cell, metric)} (95 % Student-t interval).`;
  const baseline =
    cell.baseline === null
      ? "unknown"
      : `${shown(cell.baseline, baselineError)}${cell.baselineName === null ? "" : ` (the row ${cell.baselineName})`}`;
  return html`<details id="${aboutId({ task, agent, metric: name })}"><summary>${task}, ${metricHead(metric)}, ${agent}: ${shown(cell.mean)}</summary>
<p>Mean ${shown(cell.mean)} over ${cell.measured} of ${cell.planned} planned attempts.${passed}${valid} Trivial baseline: ${baseline}. In a terminal: <code>pnpm pipeline trace ${task} ${name} ${agent}</code></p>
<div class="scroll" role="group" tabindex="0" aria-label="attempts of this mean"><table><caption class="unseen">attempts of this mean</caption>
<thead><tr><th scope="col">attempt</th><th scope="col" class="number">score</th><th scope="col" class="number">counted</th><th scope="col">because</th></tr></thead>
<tbody>${rows}</tbody></table></div>
${cell.notes.length > 0 && html`<ul class="notes">${cell.notes.map((note) => html`<li>${note}</li>`)}</ul>`}
</details>
`;
}

function wayText(attempt: Attempt, metric: string, marks: string): string {
  const way = counting(attempt, metric);
  if (way.kind === "valid") return `valid${marks}`;
  return way.kind === "failed" ? `${way.because}: scored at the trivial baseline` : `missing: ${way.cause}`;
}
