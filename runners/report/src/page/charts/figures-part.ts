// The page's figures: every attempt of a task, and every attempt at its intermediate checkpoints.

import type { Report } from "@mlrb/formats/report";
import { plainText } from "../../read/plain-text.ts";
import { type Html, html } from "../html.ts";
import { captionHtml } from "../section-html.ts";
import { checkpointsData } from "./checkpoints-data.ts";
import { checkpointsSvg } from "./checkpoints-svg.ts";
import { figureData } from "./figure-data.ts";
import { figureSvg } from "./figure-svg.ts";

export function figuresPart(report: Report): Html {
  const agents = report.agents.map(({ name }) => name);
  return figures(report, {
    id: "figures",
    heading: "Every attempt",
    caption:
      "On the metric that decides the task. A disc is an attempt. A cross is an attempt that counts as the trivial baseline: it failed, or its score is worse. A question mark is an implausible score. The vertical bar is the agent's mean over all attempts; the line is the 95 % interval of the mean of valid attempts, conditional on being valid. Dashed lines are baselines and reference models; the trivial baseline and the reference model of the normalised score are heavier.",
    figure: (task) => {
      const data = figureData(report, task);
      return (
        data &&
        html`${data.points.length > 0 && figureSvg(data, agents)}
${data.absent.map(({ agent, seed, why }) => html`<p class="bad">${agent}, seed ${seed}: ${why}</p>`)}`
      );
    },
  });
}

/** Only tasks at which an attempt's submission changed over time; without any, it says so. */
export function checkpointsPart(report: Report): Html {
  const agents = report.agents.map(({ name }) => name);
  const none = html`<section><p class="caption">No submission is known at intermediate checkpoints at which it differs from the final one.</p></section>`;
  const drawn = figures(report, {
    id: "over-time",
    heading: "Every attempt at its intermediate checkpoints",
    caption:
      "Score of the submission as it was at a share of the budget, on the metric that decides the task. A filled mark is an attempt; shape and colour show the agent. A cross is an attempt without a submission so far, or with one that is rejected or disqualified; it would be scored at the trivial baseline. The line is the agent's mean over its seeds. Only the final submission, at 100%, counts.",
    figure: (task) => {
      const data = checkpointsData(report, task);
      return (
        data &&
        html`${checkpointsSvg(data, agents)}
${data.baseline === null && html`<p class="bad">The trivial baseline is unknown: failed checkpoints are not drawn, and the mean is left out there.</p>`}`
      );
    },
  });
  return drawn.markup === "" ? none : drawn;
}

type Figures = { id: string; heading: string; caption: string; figure: (task: string) => Html | undefined };

/** A figure for each task that has one; empty where no task has. */
function figures(report: Report, { id, heading, caption, figure }: Figures): Html {
  const drawn = report.tasks.flatMap(({ name, title }) => {
    const made = figure(name);
    const titled = plainText(title === name ? name : `${name}: ${title}`);
    return made ? [html`<figure><figcaption>${titled}</figcaption>\n${made}</figure>`] : [];
  });
  if (drawn.length === 0) return html``;
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>
${captionHtml(caption)}
<div class="figures">${drawn}</div></section>
`;
}
