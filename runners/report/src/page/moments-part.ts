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
  return html`<section aria-labelledby="over-time"><h2 id="over-time">Every attempt over time</h2>
<p class="caption">What stood in the submission at a share of the budget, on the metric that decides the task. A filled sign is an attempt, the agent's by shape and colour; a cross is one that had nothing yet, or something that was rejected or struck, and would have counted as the floor. The line is the agent's mean over its seeds. Only 100%, what was handed in, counts.</p>
<div class="figures">${figures.map(
    ({
      name,
      title,
      found,
    }) => html`<figure><figcaption>${plainText(title === name ? name : `${name}: ${title}`)}</figcaption>
${momentsSvg(found, agents)}
${found.floor === null && html`<p class="bad">No floor is known: what failed is not drawn, and leaves no mean.</p>`}</figure>`,
  )}</div></section>
`;
}
