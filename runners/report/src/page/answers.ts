// The five questions that the first screen answers: who won, is it real, what did it cost, what went wrong, and
// what each agent is. A number that is not known is said to be unknown, never left out of a sum silently.
import { counted } from "@mlrb/core/text/counted";
import { formatDuration } from "@mlrb/core/text/units";
import type { Report } from "@mlrb/formats/report";
import { plainText } from "../read/plain-text.ts";
import { headline, realText } from "../sections/headline.ts";
import { coverageLine } from "../sections/sections.ts";
import { agentSign } from "./charts/draw-figure.ts";
import { type Html, html } from "./html.ts";
import type { PageData } from "./page-data.ts";
import { type TroubleKind, wentWrong } from "./went-wrong.ts";

export function answers(data: PageData): Html {
  const [observed = "", ...findings] = headline(data.report);
  return html`<dl class="answers">
${answer("who-won", "Who won?", html`<p class="headline">${unbroken(observed)}</p>`)}
${answer("is-it-real", "Is it real?", [
  html`<b>${realText(data.report)}</b> `,
  ...findings.map((line) => html`<p class="finding">${unbroken(line)}</p> `),
])}
${answer("cost", "What did it cost?", html`<p>${costText(data)} <a href="#tab-cost">By task</a></p>`)}
${answer("went-wrong", "What went wrong?", wrongHtml(data))}
${answer("agents", "Which agents?", agentsHtml(data))}
</dl>
`;
}

function answer(id: string, question: string, said: Html | Html[]): Html {
  return html`<div id="${id}"><dt>${question}</dt><dd>${said}</dd></div>`;
}

/** Numbers as 2.6e-4 are not broken at their sign. */
function unbroken(text: string): Html[] {
  return text
    .split(/(\d[\d.]*e-\d+)/)
    .map((part, at) => (at % 2 === 1 ? html`<span class="nowrap">${part}</span>` : html`${part}`));
}

type Timed = NonNullable<PageData["times"]>["attempts"][number];
type Amount = { unit: string; of: (time: Timed) => number | null; text: (sum: number) => string };
const amounts: Amount[] = [
  { unit: "dollars", of: ({ dollars }) => dollars, text: (sum) => sum.toFixed(2) },
  { unit: "GPU hours", of: ({ gpuHours }) => gpuHours, text: (sum) => String(Number(sum.toFixed(1))) },
  { unit: "time", of: ({ wallSeconds }) => wallSeconds, text: (sum) => formatDuration(1000 * sum) },
];

/** `at least 12.50 (of 3 of 4)`: the sum of the amounts that ledgers hold. */
function sumText(of: Timed[], planned: number, { of: amount, text }: Amount): string {
  const known = of.map(amount).filter((value) => value !== null);
  if (known.length === 0) return "unknown";
  const sum = text(known.reduce((total, value) => total + value, 0));
  return known.length < planned ? `at least ${sum} (of ${known.length} of ${planned})` : sum;
}

function costText({ report, times, instances }: PageData): string {
  const planned = report.attempts.length;
  if (times === null) return "Unknown: this pipeline keeps no ledgers of its attempts.";
  const lost = instances.some((one) => one.lost !== undefined) ? " Lost tries are not included." : "";
  const sums = amounts.map((amount) => `${amount.unit}: ${sumText(times.attempts, planned, amount)}`);
  return `In total, ${sums.join("; ")}; over ${counted(planned, "attempt")}.${lost}`;
}

function wrongHtml(data: PageData): Html[] {
  const kinds = wentWrong(data);
  const { attempts, scores } = data.report.coverage;
  const isWhole = attempts.pass === attempts.planned && scores.scored === scores.planned;
  const none = isWhole ? "Nothing that was recorded. " : "";
  return [
    ...kinds.map(troubleHtml),
    html`<p class="${kinds.length === 0 ? "" : "faint"}">${kinds.length === 0 && none}${coverageLine(data.report)}</p>`,
  ];
}

const causeMax = 160;

/** The first case in sight, the others one click away. */
function troubleHtml({ what, found }: TroubleKind): Html {
  const [first, ...others] = found.map(
    ({ where, cause, id }) => html`<a href="#${id}">${where}</a>: ${plainText(cause, causeMax)}`,
  );
  const more = html`<details class="more"><summary>and ${others.length} more</summary>
<ul>${others.map((each) => html`<li>${each}</li>`)}</ul></details>`;
  return html`<div><b class="bad">${found.length} ${what}</b>: ${first} ${others.length > 0 && more}</div>\n`;
}

function agentsHtml(data: PageData): Html {
  const { report, times } = data;
  const names = report.agents.map(({ name }) => name);
  return html`<div class="scroll" role="group" tabindex="0" aria-label="agents"><table class="agents"><caption class="unseen">The agents, and what their attempts cost</caption>
<thead><tr>${["agent", "model", "scaffold", "ran on", ...amounts.map(({ unit }) => unit)].map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${report.agents.map((agent) => {
    const planned = report.attempts.filter((one) => one.agent === agent.name).length;
    const own = times?.attempts.filter((one) => one.agent === agent.name) ?? [];
    const ran = data.instances.filter(({ role, axes }) => role === "attempt" && axes.agent === agent.name);
    const cells = [modelText(agent, own), scaffoldText(agent), daysOf(ran) ?? "unknown"];
    return html`<tr><th scope="row">${agentSign(agent.name, names)} <b>${agent.name}</b></th>${[
      ...cells,
      ...amounts.map((amount) => sumText(own, planned, amount)),
    ].map((text) => html`<td>${text}</td>`)}</tr>`;
  })}</tbody></table></div>`;
}

/** With what answered, where that has another name. An agent without a model is said to be a program. */
function modelText({ preset }: Report["agents"][number], own: Timed[]): string {
  if (!preset) return "unknown";
  const { kind, models, planner } = preset;
  if (kind === "replay") {
    const recorded = own.flatMap(({ served = [] }) =>
      served.map(({ provider, model }) => `${provider} ${model}`),
    );
    return plainText(`none called: a replay of ${[...new Set(recorded)].join(", ") || "a recording"}`);
  }
  if (kind === "person") return "none: a person";
  if (models.length === 0) return kind === "llm" ? "unknown" : "none: a script or program";
  const answered = own.flatMap(({ served = [] }) => served.flatMap(({ answeredBy }) => answeredBy ?? []));
  const others = [...new Set(answered)].filter((name) => !models.some((model) => model.endsWith(name)));
  const plan = planner === null ? "" : `; plan by ${planner}`;
  return plainText(
    `${models.join(", ")}${others.length > 0 ? `, answered by ${others.join(", ")}` : ""}${plan}`,
  );
}

function scaffoldText({ preset }: Report["agents"][number]): string {
  return preset?.scaffold ?? (preset?.kind === "replay" ? "as recorded" : "none");
}

/** The days (UTC) on which stages began: `2026-01-02`, or the first and the last one; undefined if unknown. */
export function daysOf(instances: PageData["instances"]): string | undefined {
  const days = instances.flatMap(({ made }) => made?.ran.startedAt.slice(0, 10) ?? []).sort();
  return days[0] === days.at(-1) ? days[0] : `${days[0]} to ${days.at(-1)}`;
}
