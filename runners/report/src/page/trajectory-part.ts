// A first look at an attempt's trajectory: the budget it used, its failures with their owner, and its conversation with
// commands, their output, and the changes of files. All of it is text of agents.
import { unreachable } from "@mlrb/core/ports/outcome";
import type { PageTurn, ToolInput } from "../story/page-turn.ts";
import { type Html, html } from "./html.ts";
import type { PageEvent, PageTrajectory } from "./page-data.ts";

type Readable = PageTrajectory & { kind: "read" };

export function trajectoryPart(trajectory: PageTrajectory): Html {
  if (trajectory.kind === "unreadable") return html`<p>Trajectory: ${trajectory.cause}</p>`;
  const { lines, events } = trajectory;
  return html`${failuresPart(trajectory)}
<details class="trajectory"><summary>Trajectory: ${lines ?? "unknown number of"} events</summary>
<p class="search"><label>Search this trajectory <input class="find" type="search" autocomplete="off" spellcheck="false"></label> <span class="found" aria-live="polite"></span></p>
<ol>
${events.map(eventHtml)}
</ol></details>
${budgetTable(trajectory)}
`;
}

export function eventHtml({ sinceStartMs, event, text, skippedBefore, turn }: PageEvent): Html {
  const gap =
    skippedBefore &&
    html`<li class="gap">… some events are left out here; the attempt's record has all of them</li>`;
  const when = html`<span class="when">${sinceStartMs === null ? "" : timeText(sinceStartMs)}</span>`;
  if (!turn) {
    const quiet = event === "output" ? html`<pre>${text}</pre>` : html`<span class="said">${text}</span>`;
    return html`${gap}<li>${when} <b>${event}</b> ${quiet}</li>`;
  }
  return html`${gap}<li class="turn ${turn.kind}">${when} ${turnHtml(turn)}</li>`;
}

/** `12.3 s`, `4:05` in minutes, or `1:04:05` in hours. */
function timeText(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.floor(seconds);
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

function turnHtml(turn: PageTurn): Html {
  switch (turn.kind) {
    case "message":
      return html`<b>to ${turn.to}</b> <span class="facts">${turn.role}</span><div class="said">${turn.text}</div>`;
    case "answer":
      return html`<b>${turn.by}</b> <span class="facts">${turn.facts}</span>${turn.reasoning !== "" && html`<div class="said reasoning">${turn.reasoning}</div>`}${turn.text !== "" && html`<div class="said">${turn.text}</div>`}`;
    case "tool": {
      const { input } = turn;
      const asked =
        input.kind === "command" ? html`<pre class="command">${input.text}</pre>` : diffHtml(input);
      return html`<b>${turn.name}</b> <span class="${turn.bad ? "facts bad" : "facts"}">${turn.facts}</span>${asked}${turn.output !== "" && html`<pre>${turn.output}</pre>`}`;
    }
    default:
      return unreachable(turn);
  }
}

function diffHtml({ path, changes }: ToolInput & { kind: "file" }): Html {
  const lines = changes.map(({ kind, text }) => {
    if (kind === "same") return html`<span>  ${text}\n</span>`;
    return kind === "gone" ? html`<del>− ${text}\n</del>` : html`<ins>+ ${text}\n</ins>`;
  });
  return html`<p class="path"><code>${path}</code></p><pre class="diff">${lines}</pre>`;
}

function budgetTable({ budget, task, agent, seed }: Readable): Html | false {
  if (budget.length === 0) return false;
  const name = `budget of ${task}, ${agent}, seed ${seed}`;
  return html`<div class="scroll" role="group" tabindex="0" aria-label="${name}"><table><caption>Budget</caption>
<thead class="unseen"><tr><th scope="col">part</th><th scope="col">share</th><th scope="col">used</th></tr></thead>
<tbody>${budget.map(({ name: part, used, limit, words }) => {
    const share = used !== null && limit !== null && limit > 0 ? Math.min(1, used / limit) : undefined;
    return html`<tr><th scope="row">${part}</th><td>${share !== undefined && html`<meter min="0" max="1" value="${share.toFixed(4)}" aria-label="${part}"></meter>`}</td><td>${words}</td></tr>`;
  })}</tbody></table></div>`;
}

function failuresPart({ failures, partly }: Readable): Html | false {
  if (failures.length === 0) return false;
  return html`<p>Failures, with their owner${partly && " (the middle of the trajectory was not read for this page)"}:</p>
<ul>${failures.map(
    ({ whose, cause, count, detail }) =>
      html`<li><b>${whose}</b>: ${cause}${count > 1 && `, ${count} times`}: <span class="said">${detail}</span></li>`,
  )}</ul>`;
}
