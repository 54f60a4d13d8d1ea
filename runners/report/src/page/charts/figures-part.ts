// The page's figures of tasks: every attempt, and the score over time.

import type { Report } from "@mlrb/formats/report";
import { scoreOverTime } from "../../compare/score-over-time.ts";
import { plainText } from "../../read/plain-text.ts";
import { type Html, html } from "../html.ts";
import { agentLegend } from "./draw-figure.ts";
import { figureData } from "./figure-data.ts";
import { figureSvg } from "./figure-svg.ts";
import { overTimeSvg } from "./over-time-svg.ts";

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
export function overTimePart(report: Report): Html {
  const none = html`<section><p class="caption">No submission is known at intermediate checkpoints at which it differs from the final one.</p></section>`;
  const drawn = figures(report, {
    id: "over-time",
    heading: "Score over time",
    caption:
      "Mean score of the submissions as they were at a share of the budget; the band spans all attempts (n in the table). A cross: no attempt had a valid submission.",
    legend: true,
    figure: (task) => {
      const found = scoreOverTime(report, task);
      return (
        found &&
        html`${overTimeSvg(report, found)}
${found.cell?.baseline == null && html`<p class="bad">The trivial baseline is unknown: there is no mean where an attempt failed.</p>`}`
      );
    },
  });
  return drawn.markup === "" ? none : drawn;
}

type Figures = {
  id: string;
  heading: string;
  caption: string;
  /** Of small figures, which have room for the agents' names only in a legend. */
  legend?: boolean;
  figure: (task: string) => Html | undefined;
};

/** A figure for each task that has one; empty where no task has. */
function figures(report: Report, { id, heading, caption, legend = false, figure }: Figures): Html {
  const drawn = report.tasks.flatMap(({ name, title }) => {
    const made = figure(name);
    const titled = plainText(title === name ? name : `${name}: ${title}`);
    return made ? [html`<figure><figcaption>${titled}</figcaption>\n${made}</figure>`] : [];
  });
  if (drawn.length === 0) return html``;
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>
<p class="caption">${caption}</p>
${legend && agentLegend(report.agents.map(({ name }) => name))}
<div class="figures${legend && " small"}">${drawn}</div></section>
`;
}
