// The table of all attempts: the page's script sorts and filters it. Each row leads to its attempt.
import { counted } from "@mlrb/core/text/counted";
import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Times } from "@mlrb/formats/times";
import { counting } from "../compare/counting.ts";
import { gpuClasses } from "../read/gpu-words.ts";
import { footnoteMarks } from "../sections/attempts-section.ts";
import { scoreError, supportedText } from "../sections/digits-text.ts";
import { metricHead, verdictText } from "../sections/report-words.ts";
import { metricOf } from "../units/shown-metric.ts";
import { type Html, html } from "./html.ts";
import { attemptId } from "./section-html.ts";

type Timed = Times["attempts"][number] | undefined;
type Column = {
  head: string;
  number: boolean;
  /** `sort` orders the rows; without one its text does. Unknown numbers come last in both directions. */
  cell: (
    attempt: Attempt,
    time: Timed,
  ) => { text: Html | string; sort?: number | string | null; mark?: string };
};

export function attemptsTable(report: Report, times: Times | null): Html {
  if (report.attempts.length === 0) return html``;
  const columns = columnsOf(report, times);
  const verdicts = [...new Set(report.attempts.map(({ verdict }) => verdict.kind))];
  const timeOf = new Map(times?.attempts.map((one) => [attemptId(one.task, one.agent, one.seed), one]));
  return html`<section aria-labelledby="all-attempts"><h2 id="all-attempts">All attempts</h2>
<p class="filters"><label>Show attempts that contain <input id="attempt-filter" type="search" autocomplete="off" spellcheck="false"></label>
<label>with verdict <select id="verdict-filter"><option value="">any</option>${verdicts.map((kind) => html`<option value="${kind}">${kind}</option>`)}</select></label>
<span id="attempts-shown" aria-live="polite">${counted(report.attempts.length, "attempt")}</span></p>
<div class="scroll" role="group" tabindex="0" aria-label="all attempts"><table class="cards sortable"><caption class="unseen">all attempts</caption>
<thead><tr>${columns.map(({ head, number }) => html`<th scope="col"${number && html` class="number"`}><button type="button">${head}</button></th>`)}</tr></thead>
<tbody>${report.attempts.map((attempt) => {
    const id = attemptId(attempt.task, attempt.agent, attempt.seed);
    return html`<tr data-verdict="${attempt.verdict.kind}">${columns.map((column, at) => cellHtml(column, column.cell(attempt, timeOf.get(id)), at === 0))}</tr>`;
  })}</tbody></table></div>
</section>
`;
}

function cellHtml(
  { head, number }: Column,
  { text, sort, mark }: ReturnType<Column["cell"]>,
  first: boolean,
): Html {
  const classes = [number ? "number" : "", mark ?? ""].filter((name) => name !== "").join(" ");
  const facts = html` data-label="${head}"${sort !== undefined && html` data-sort="${sort === null ? "" : sort}"`}${classes !== "" && html` class="${classes}"`}`;
  return first
    ? html`<th scope="row"${facts}><span>${text}</span></th>`
    : html`<td${facts}><span>${text}</span></td>`;
}

function columnsOf(report: Report, times: Times | null): Column[] {
  const gpus = gpuClasses(report);
  const spent = (head: string, digits: number, of: (time: NonNullable<Timed>) => number | null): Column[] => {
    // a column without any known value is left out
    if (!times?.attempts.some((one) => of(one) !== null)) return [];
    const shown = number(head, (_, time) => {
      const value = time ? of(time) : null;
      return value === null
        ? { text: "unknown", sort: null, mark: "faint" }
        : { text: value.toFixed(digits), sort: value };
    });
    return [shown];
  };
  return [
    words("task", ({ task, agent, seed }) => ({
      text: html`<a href="#${attemptId(task, agent, seed)}">${task}</a>`,
    })),
    words("agent", ({ agent }) => ({ text: agent })),
    number("seed", (attempt) => ({
      text: `${attempt.seed}${footnoteMarks(attempt, gpus)}`,
      sort: attempt.seed,
    })),
    words("verdict", ({ verdict }) => ({ text: verdictText(verdict), mark: verdict.kind })),
    number("score", (attempt) => scoreOf(report, attempt)),
    number("normalised", (attempt) => normalisedOf(report, attempt)),
    ...spent("minutes", 1, ({ wallSeconds }) => (wallSeconds === null ? null : wallSeconds / 60)),
    ...spent("GPU hours", 2, ({ gpuHours }) => gpuHours),
    ...spent("dollars", 2, ({ dollars }) => dollars),
  ];
}

function words(head: string, cell: Column["cell"]): Column {
  return { head, number: false, cell };
}

function number(head: string, cell: Column["cell"]): Column {
  return { head, number: true, cell };
}

function scoreOf(report: Report, attempt: Attempt): ReturnType<Column["cell"]> {
  const primary = report.tasks.find(({ name }) => name === attempt.task)?.primary ?? null;
  const score = primary === null ? undefined : attempt.scores[primary];
  if (primary === null || score === undefined) return { text: "–", sort: null, mark: "faint" };
  if (score.kind !== "scored")
    return { text: score.kind === "rejected" ? "rejected" : "not measured", sort: null, mark: "bad" };
  const metric = metricOf(report, primary);
  const text = supportedText(score.value, metric.digits, score.standardError);
  const counts = counting(attempt, primary).kind === "valid";
  return {
    text: html`${counts ? text : html`<s>${text}</s>`} <small>${metricHead(metric)}</small>`,
    sort: score.value,
  };
}

function normalisedOf(report: Report, attempt: Attempt): ReturnType<Column["cell"]> {
  const { task, agent, seed, scores } = attempt;
  const cell = report.cells.find((one) => one.task === task && one.agent === agent && one.primary);
  const value = cell?.normalised[cell.seeds.indexOf(seed)] ?? null;
  if (!cell || value === null) return { text: "–", sort: null, mark: "faint" };
  const error = scoreError(scores[cell.metric]);
  const width =
    cell.baseline === null || cell.reference === null ? null : Math.abs(cell.reference - cell.baseline);
  return {
    text: supportedText(value, 2, error === null || width === null ? null : error / width),
    sort: value,
  };
}
