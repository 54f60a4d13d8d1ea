// Score against cost as SVG, one figure for each kind of cost, with the Pareto line of the agents.

import { counted } from "@mlrb/core/text/counted";
import type { Report } from "@mlrb/formats/report";
import type { Times } from "@mlrb/formats/times";
import * as Plot from "@observablehq/plot";
import { ofWholeTasks } from "../../compare/ladder.ts";
import { listText } from "../../sections/report-words.ts";
import { type Html, html } from "../html.ts";
import { captionHtml } from "../section-html.ts";
import {
  type CostData,
  type CostPoint,
  costData,
  costWords,
  spentText,
  type TaskPoint,
} from "./cost-data.ts";
import { agentColour, agentLooks, axisDomain, clipped, drawFigure } from "./draw-figure.ts";

export function costFigures(report: Report, times: Times): Html {
  const agents = report.agents.map(({ name }) => name);
  const drawn = costData(report, times).filter((data) => data.agents.length > 0);
  const shown = new Set<string>(drawn.map(({ amount }) => amount));
  const absent = ["dollars", "GPU hours", "minutes"].filter((name) => !shown.has(name));
  const { tasks } = report.acrossTasks;
  const compared = new Set(tasks.map(({ task }) => task));
  const none = tasks.length === 0 ? "No task has a normalised score to draw against cost." : "";
  const notDrawn =
    absent.length > 0 ? ` Not drawn: ${listText(absent)} (unknown or 0 for every attempt).` : "";
  return html`<section aria-labelledby="cost-figures"><h2 id="cost-figures">Score against cost</h2>
${captionHtml(`Mean spending of an attempt against the normalised mean over ${tasks.length} of ${counted(ofWholeTasks(report).tasks.length, "task")}; faint: one task; grey: a cost is unknown. The line: agents that no other one beats in both. ${none}${notDrawn}`)}
<div class="figures small">${drawn.map((data) => html`<figure><figcaption>Score against ${data.amount}</figcaption>\n${costSvg({ ...data, tasks: data.tasks.filter(({ task }) => compared.has(task)) }, agents)}</figure>`)}</div></section>
`;
}

function costSvg(data: CostData, agents: string[]): Html {
  const known = data.agents.filter(({ spent }) => spent !== null);
  const unknown = data.agents.filter(({ spent }) => spent === null);
  const most = Math.max(...[...known, ...data.tasks].map(({ spent }) => spent!), 0) || 1;
  const y = axisDomain(
    0.12,
    [...data.agents, ...data.tasks].map(({ score }) => score),
  );
  const colour = ({ agent }: CostPoint) => agentColour(agent, agents);
  const name = (dx: number, fill: string | typeof colour) => ({
    y: "score",
    text: ({ agent }: CostPoint) => clipped(agent),
    textAnchor: "start" as const,
    dx,
    dy: -9,
    fill,
    stroke: "var(--ground)", // behind the letters, so that no line crosses them
    strokeWidth: 4,
    fontWeight: 600,
  });
  return drawFigure(costWords(data), {
    width: 400,
    height: 280,
    marginLeft: 54,
    marginRight: 90, // for the agents' names
    marginBottom: 44,
    marginTop: 26,
    x: { domain: [0, most * 1.05], ticks: 5, label: `${data.amount} of one attempt` },
    y: { domain: y, ticks: 5, label: "normalised mean over tasks", grid: true },
    marks: [
      Plot.line(data.pareto, {
        x: "spent",
        y: "score",
        stroke: "var(--line)",
        strokeDasharray: "4 3",
        curve: "step-after",
      }),
      Plot.dot(data.tasks, {
        x: "spent",
        y: "score",
        r: 3,
        fill: colour,
        fillOpacity: 0.3,
        title: ({ agent, task, spent }: TaskPoint) => `${task}, ${agent}: ${spentText(data.amount, spent)}`,
      }),
      Plot.dot(known, {
        x: "spent",
        y: "score",
        r: 6.5,
        stroke: "var(--ground)",
        ...agentLooks(agents),
      }),
      Plot.text(known, { x: "spent", ...name(8, colour) }),
      Plot.dot(unknown, {
        x: () => 0,
        y: "score",
        r: 6.5,
        fill: "var(--soft)",
        fillOpacity: 0.5,
        stroke: "var(--soft)",
      }),
      Plot.text(unknown, {
        x: () => 0,
        ...name(10, "var(--soft)"),
        text: ({ agent }: CostPoint) => `${clipped(agent)}: unknown`,
      }),
    ],
  });
}
