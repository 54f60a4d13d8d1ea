// Every attempt as a square, by task and agent, shaded by its place on the forest plot's scale. A square leads to
// its attempt. A table, so that it can be read without colours and without a pointer.

import { type Html, html } from "../html.ts";
import { attemptId } from "../section-html.ts";
import type { ForestCell, ForestData, ForestSeed, ForestTask } from "./forest-data.ts";

const shades = 9;

export function heatMap({ tasks, agents }: ForestData): Html {
  const isDense =
    agents.length * Math.max(0, ...tasks.flatMap((task) => task.agents.map(({ seeds }) => seeds.length))) >
    10;
  return html`<div class="scroll" role="group" tabindex="0" aria-label="attempts by task and agent"><table class="${isDense ? "heat dense" : "heat"}"><caption class="unseen">Attempts by task and agent, one square for each seed</caption>
<thead><tr><th scope="col">task</th>${agents.map((agent) => html`<th scope="col">${agent}</th>`)}</tr></thead>
<tbody>${tasks.map((task) => html`<tr><th scope="row">${task.task}</th>${task.agents.map((cell) => cellHtml(task, cell))}</tr>`)}</tbody></table></div>
<p class="key"><span><i class="square h1"></i><i class="square h4"></i><i class="square h8"></i> from baseline to reference or best</span> <span><i class="square failed">×</i> failed</span> <span><i class="square hatched h4"></i> undecided</span> <span><i class="square hatched missing"></i> missing</span></p>
`;
}

function cellHtml({ task, metric }: ForestTask, { agent, seeds }: ForestCell): Html {
  if (seeds.length === 0) return html`<td><span class="faint">none</span></td>`;
  return html`<td>${seeds.map((one) => {
    const words = one.words.startsWith(`${metric} `) ? one.words.slice(metric!.length + 1) : one.words;
    return html`<a class="square ${look(one)}" href="#${attemptId(task, agent, one.seed)}" title="${task}, ${agent}, seed ${one.seed}: ${one.words}"><span class="unseen">${words} (seed ${one.seed})</span>${one.kind === "failed" && html`<span aria-hidden="true">×</span>`}</a>`;
  })}</td>`;
}

/** The classes of a square: its shade, and how it differs from a valid attempt. */
export function look({ kind, at }: Pick<ForestSeed, "kind" | "at">): string {
  if (kind === "failed") return "failed";
  if (at === null || kind === "missing") return "hatched missing";
  const share = Math.min(Math.max(at, 0), 1);
  const shade = `h${Math.min(shades - 1, Math.floor(share * shades))}`;
  return kind === "undecided" ? `hatched ${shade}` : shade;
}
