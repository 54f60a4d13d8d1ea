// What the page shows before anything is clicked: what was run, the answers to five questions, and the score of
// every attempt.
import { counted } from "@mlrb/core/text/counted";
import type { Report } from "@mlrb/formats/report";
import { labelText } from "../read/condition-words.ts";
import { answers, daysOf } from "./answers.ts";
import { agentLegend } from "./charts/draw-figure.ts";
import { forestData } from "./charts/forest-data.ts";
import { forestSvg } from "./charts/forest-svg.ts";
import { heatMap } from "./charts/heat-map.ts";
import { rankedData } from "./charts/ranked-data.ts";
import { rankedSvg } from "./charts/ranked-svg.ts";
import { type Html, html } from "./html.ts";
import type { PageData } from "./page-data.ts";
import { captionHtml } from "./section-html.ts";

export function pageHead(data: PageData): Html {
  const { report, plan, commit, instances } = data;
  const { planned, missing } = report.coverage.attempts;
  const days = daysOf(instances);
  const made = `${plan.pipeline}, profile ${plan.profile}${plan.selection === "" ? "" : `, ${plan.selection}`}`;
  return html`<header>
<div class="title"><h1>${report.title} (${labelText(report)})</h1>
<ul class="badges" aria-label="About this run">
<li class="${report.smoke ? "badge warning" : "badge"}">${report.smoke ? `${plan.profile}: practice data, do not cite` : plan.profile}</li>
<li class="badge">${planned - missing} of ${counted(planned, "attempt")}</li>
${days !== undefined && html`<li class="badge">${days}</li>`}
${commit !== null && html`<li class="badge" title="commit of mlrb that wrote this page">commit ${commit.slice(0, 10)}</li>`}
</ul></div>
${answers(data)}
<p class="facts">${report.note !== "" && html`<b>${report.note}</b> `}Pipeline ${made}.</p>
</header>
`;
}

/** The forest plot and the heat map; nothing without a task. */
export function overviewPart(report: Report): Html {
  const data = forestData(report);
  if (data.tasks.length === 0 || data.agents.length === 0) return html``;
  const ranked = rankedData(report);
  return html`<section class="overview" aria-labelledby="overview"><h2 id="overview" class="unseen">Overview</h2>
<figure class="forest"><figcaption>Score by task ${agentLegend(data.agents)}</figcaption>
${(["wide", "narrow"] as const).map((form) => html`<div class="${form}">${forestSvg(data, form)}${ranked.length > 0 && html`<p class="all-tasks">Over tasks: normalised mean</p>${rankedSvg(report, ranked, { form })}`}</div>\n`)}</figure>
<figure class="matrix"><figcaption>Every attempt</figcaption>
${heatMap(data)}
${captionHtml(`How to read both. Left: a mark is the mean over attempts, its line the 95 % interval of the mean of valid attempts, a faint dot one attempt, a cross a failed one. There is no line where an attempt failed, where attempts are repeats, or where there are too few. A task without a usable reference model has its values as text. An arrow goes on past the edge. Right: a square is an attempt and leads to it.`)}
</figure></section>
`;
}
