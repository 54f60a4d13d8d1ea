// Score over time as figures, of the tasks at which an attempt changed what it had put into its submission.

import type { Report } from "@mlrb/formats/report";
import { plainText } from "../read/plain-text.ts";
import { type Html, html } from "./html.ts";
import { momentsData } from "./moments-data.ts";
import { momentsSvg } from "./moments-svg.ts";

export function momentsPart(report: Report): Html {
  const agents = report.agents.map(({ name }) => name);
  const figures = report.tasks.flatMap(({ name, title }) => {
    const found = momentsData(report, name);
    return found ? [{ name, title, found }] : [];
  });
  if (figures.length === 0) return html``;
  return html`<section aria-labelledby="over-time"><h2 id="over-time">Every attempt at its intermediate checkpoints</h2>
<p class="caption">Score of the submission as it was at a share of the budget, on the metric that decides the task. A filled mark is an attempt; shape and colour show the agent. A cross is an attempt without a submission so far, or with one that is rejected or disqualified; it would be scored at the trivial baseline. The line is the agent's mean over its seeds. Only the final submission, at 100%, counts.</p>
<div class="figures">${figures.map(
    ({
      name,
      title,
      found,
    }) => html`<figure><figcaption>${plainText(title === name ? name : `${name}: ${title}`)}</figcaption>
${momentsSvg(found, agents)}
${found.floor === null && html`<p class="bad">The trivial baseline is unknown: failed checkpoints are not drawn, and the mean is left out there.</p>`}</figure>`,
  )}</div></section>
`;
}
