// The page's figures of the score over time, one for each task.

import type { Report } from "@mlrb/formats/report";
import { scoreOverTime } from "../../compare/score-over-time.ts";
import { plainText } from "../../read/plain-text.ts";
import { taskTitle } from "../../sections/report-words.ts";
import { type Html, html } from "../html.ts";
import { agentLegend } from "./draw-figure.ts";
import { overTimeSvg } from "./over-time-svg.ts";

/** Only tasks at which an attempt's submission changed over time; without any, it says so. */
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
  if (drawn.length === 0)
    return html`<section><p class="caption">No submission is known at intermediate checkpoints at which it differs from the final one.</p></section>`;
  return html`<section aria-labelledby="over-time"><h2 id="over-time">Score over time</h2>
<p class="caption">Mean score of the submissions as they were at a share of the budget; the band spans all attempts (n in the table). A cross: no attempt had a valid submission.</p>
${agentLegend(report.agents.map(({ name }) => name))}
<div class="figures small">${drawn}</div></section>
`;
}
