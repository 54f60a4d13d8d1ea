// The story of an attempt, as `attempts show` tells it: what happened, its failures with their owner, and the
// budget that it used. All of it is text of agents.
import { formatDuration } from "@mlrb/core/text/units";
import { bytesText } from "../story/bytes-text.ts";
import { memberCells } from "../story/member-cells.ts";
import { type Html, html } from "./html.ts";
import { type PageLine, type PageStory, storyBytesMax, toldBytesMax } from "./page-data.ts";

type Readable = PageStory & { kind: "read" };

/** On every page. */
export const storyLimits = `Of each attempt, this page holds at most ${bytesText(storyBytesMax)} of its story, told from at most the first ${bytesText(toldBytesMax)} of its trajectory.`;

/** `record`: the digest of the attempt's record; undefined where there is none. */
export function storyPart(story: PageStory, record: string | undefined): Html {
  if (story.kind === "unreadable") return html`<p>Trajectory: ${story.cause}</p>`;
  return html`${failuresPart(story)}${membersTable(story)}
<details class="story"><summary>What happened</summary>
<p class="search"><label>Search this story <input class="find" type="search" autocomplete="off" spellcheck="false"></label> <span class="found" aria-live="polite"></span></p>
<ol>
${story.lines.map(lineHtml)}
</ol></details>
${story.missing.map((one) => html`<p class="bad">Missing here: ${one}</p>`)}
${!story.fits && html`<p><b>Its story does not fit here.</b> Its trajectory has ${bytesText(story.bytes)}.</p>`}
${record !== undefined && html`<p>All of its trajectory, for <code>inspect view --log-dir logs</code>: <code>pnpm pipeline attempts export ${record.slice(0, 12)} --format inspect --output logs/</code></p>`}
${budgetTable(story)}
`;
}

function lineHtml({ sinceStartMs, what, text, mark, full }: PageLine): Html {
  const when = sinceStartMs === null ? "" : formatDuration(Math.max(0, sinceStartMs));
  return html`<li class="${mark ?? ""}"><span class="when">${when}</span> ${what !== "" && html`<b>${what}</b> `}<span class="said">${text}</span>${full !== undefined && html`<details><summary>All of it</summary><pre>${full}</pre></details>`}</li>`;
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

function membersTable({ members, task, agent, seed }: Readable): Html | false {
  if (members.length === 0) return false;
  const [head, ...cells] = Object.entries(memberCells);
  const name = `members of ${task}, ${agent}, seed ${seed}`;
  return html`<div class="scroll" role="group" tabindex="0" aria-label="${name}"><table><caption>Members of the team</caption>
<thead><tr>${Object.keys(memberCells).map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${members.map((one) => html`<tr><th scope="row">${head![1](one)}</th>${cells.map(([, text]) => html`<td>${text(one)}</td>`)}</tr>`)}</tbody></table></div>`;
}

function failuresPart({ failures, bytes }: Readable): Html | false {
  if (failures.length === 0) return false;
  return html`<p>Failures, with their owner${bytes > toldBytesMax && " (in what was read of its trajectory)"}:</p>
<ul>${failures.map(
    ({ whose, cause, count, detail }) =>
      html`<li><b>${whose}</b>: ${cause}${count > 1 && `, ${count} times`}: <span class="said">${detail}</span></li>`,
  )}</ul>`;
}
