// An attempt's trajectory on the page: the budget that it used, its failures with their owner, and its events.
import { type Html, html } from "./html.ts";
import type { PageTrajectory } from "./page-data.ts";

type Readable = PageTrajectory & { kind: "read" };

export function trajectoryPart(trajectory: PageTrajectory): Html {
  if (trajectory.kind === "unreadable") return html`<p>Trajectory: ${trajectory.cause}</p>`;
  const { lines, events } = trajectory;
  return html`${budgetTable(trajectory)}
${failuresPart(trajectory)}
<details><summary>Trajectory: ${lines ?? "unknown number of"} events</summary><ol class="trajectory">
${events.map(
  ({ sinceStartMs, event, text, skippedBefore }) =>
    html`${skippedBefore && html`<li class="faint">… some events are left out here; the attempt's record has all of them</li>`}<li><span class="when">${sinceStartMs === null ? "" : `${(sinceStartMs / 1000).toFixed(1)} s`}</span> <b>${event}</b> <span class="said">${text}</span></li>`,
)}
</ol></details>
`;
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
