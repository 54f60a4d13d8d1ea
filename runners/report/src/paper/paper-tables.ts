// The tables for a paper, one file each under tables/: the means that decide the tasks, the agents compared, what
// became of the attempts, the tasks and the agents. costs.ts has the one of costs.
import type { Report } from "@mlrb/formats/report";
import type { AgentComparison } from "@mlrb/formats/report/agent-comparison";
import type { Cell } from "@mlrb/formats/report/cell";
import { withoutFewPeople } from "../compare/few-people.ts";
import type { PaperTable } from "../formats/latex-paper-table.ts";
import { headWidth } from "../formats/latex-paper-table.ts";
import { withFootnotes } from "../read/attempt-marks.ts";
import { bestOfCaption, bestOfTable } from "../sections/best-of-section.ts";
import {
  differenceTexts,
  digitsText,
  meanError,
  pText,
  rateText,
  supportedDigits,
} from "../sections/digits-text.ts";
import {
  baselineText,
  importedMarkOf,
  metricHead,
  publishedText,
  referenceText,
} from "../sections/report-words.ts";
import { publishedCaption } from "../sections/results-section.ts";
import { type Column, type TableCell, textCell } from "../sections/table.ts";
import { column, noNumber, numeric, oneGroup, tableOf } from "../sections/table-of.ts";
import { togetherCaption, togetherTable } from "../sections/together-section.ts";
import { validText } from "../sections/valid-text.ts";
import { metricOf } from "../units/shown-metric.ts";
import { clearlyBest, type PrimaryRow, primaryRows } from "./best-attempts.ts";
import { titleOf } from "./costs.ts";
import { type DisplayNames, displayNames, paperGroups } from "./display-names.ts";
import { countedSpread, overTasksRows, plusMinus } from "./over-tasks-rows.ts";
import { disqualifyingText, factColumns, taskColumns } from "./set-up-section.ts";

/** Those that have rows. */
export function paperTables(report: Report): PaperTable[] {
  const names = displayNames(report);
  return [
    ...mainTables(report, names),
    compareTable(report, names),
    attemptsTable(report, names),
    tasksTable(report, names),
    agentsTable(report, names),
    bestOfPaperTable(report, names),
    togetherPaperTable(report, names),
  ].filter(({ table }) => table.groups.length > 0);
}

type MainRow = PrimaryRow & { best: Cell | undefined };

/** Agents that do not fit one table are in further ones, each with all tasks. Bold compares with all agents. */
function mainTables(report: Report, names: DisplayNames): PaperTable[] {
  const { cells: compared } = withoutFewPeople(report);
  const rows = primaryRows(report).map((row): MainRow => {
    const cells = row.cells.filter((cell) => compared.includes(cell));
    return { ...row, best: clearlyBest(cells, report) };
  });
  const overTasks = overTasksRows(report);
  const agents = report.agents.map(({ name }) => name);
  const perTable = agentsPerTable(agents.map(names.agent), report.published.length > 0);
  const parts = Array.from({ length: Math.ceil(agents.length / perTable) }, (_, at) =>
    agents.slice(at * perTable, (at + 1) * perTable),
  );
  const hasPublished = rows.some(({ published }) => published.length > 0);
  return parts.map((own, at) => {
    const table = tableOf("", oneGroup(rows), [
      column("Task", ({ task }) => names.task(task)),
      column("Metric", ({ cells }) => metricText(report, names, cells[0]!)),
      ...own.map((agent) => numeric(names.agent(agent), (row: MainRow) => mainCell(report, row, agent))),
      numeric("Trivial baseline", ({ cells: [cell] }) =>
        baselineText(cell!, metricOf(report, cell!.metric), report.rows),
      ),
      numeric("Reference model", ({ cells: [cell] }) =>
        referenceText(cell!, metricOf(report, cell!.metric), report.rows),
      ),
      ...(hasPublished ? [column("Published", (row: MainRow) => publishedCell(report, row))] : []),
    ]);
    const last = overTasks.map(({ label, cell }) =>
      [label, "normalised ↑", ...own.map(cell), "0", "1", ...(hasPublished ? [""] : [])].map((text) =>
        textCell(text),
      ),
    );
    if (last.length > 0) table.groups.push({ name: "over-tasks", title: "Over tasks", rows: last });
    const part = parts.length > 1 ? ` Agents, part ${at + 1} of ${parts.length}.` : "";
    return {
      name: at === 0 ? "main" : `main-agents-${at + 1}`,
      caption: mainCaption(report, rows, part),
      table,
    };
  });
}

/** In sizes of the font: 5.5 in without the columns of task, metric, baseline and reference; a published value; a mean. */
const width = { room: 25, published: 9, mean: 4.5, gap: 0.75 };

function agentsPerTable(heads: string[], withPublished: boolean): number {
  const room = width.room - (withPublished ? width.published : 0);
  const widest = Math.max(...heads.map(headWidth), width.mean) + width.gap;
  return Math.max(1, Math.floor(room / widest));
}

function titled<Named extends Column>(named: Named): Named {
  return { ...named, head: titleOf(named.head) };
}

function metricText(report: Report, names: DisplayNames, { metric }: Cell): string {
  return metricHead({ ...metricOf(report, metric), name: names.metric(metric) });
}

function mainCell(report: Report, { cells, best }: MainRow, agent: string): TableCell {
  const cell = cells.find((each) => each.agent === agent);
  if (!cell) return noNumber;
  const mark = importedMarkOf(cell, report.attempts);
  const coverage = cell.measured === cell.planned ? mark : ` (${cell.measured}/${cell.planned}${mark})`;
  if (cell.mean === null) return textCell(`–${coverage}`);
  const digits = supportedDigits(metricOf(report, cell.metric).digits, meanError(cell));
  const mean = `${digitsText(cell.mean, digits)}${plusMinus(countedSpread(cell), digits, cell.mean)}`;
  return textCell(`${mean}${coverage}`, cell === best ? "strong" : undefined);
}

function publishedCell(report: Report, { cells, published }: MainRow): TableCell {
  const metric = metricOf(report, cells[0]!.metric);
  return { lines: published.map((each) => publishedText(each, metric)) };
}

function mainCaption(report: Report, rows: MainRow[], part: string): string {
  const cells = rows.flatMap((row) => row.cells);
  const isMissing = cells.some(({ measured, planned }) => measured < planned);
  const sentences = [
    `Mean over attempts at the metric that decides each task (${countText(cells)}${isMissing ? "; in parentheses measured/planned where some are missing" : ""}).`,
    "±: the sample standard deviation over those attempts; in the last rows, of the mean of one attempt at each task; none for one attempt or repeats of one.",
    "Arrows show which direction is better.",
    "Failed and disqualified attempts, and those worse than the trivial baseline (guessing, or doing nothing), count as the trivial baseline.",
    "The reference model is a known model, scored on the same data.",
    "Bold: the best mean, where it is ahead of every other agent by more than two standard errors over test items; this does not predict further attempts.",
    ...(rows.some(({ published }) => published.length > 0) ? [publishedCaption] : []),
  ];
  return withFootnotes(`${sentences.join(" ")}${part}`, report.attempts);
}

/** `n = 2 attempts per task and agent`, or the range where attempts are missing. */
function countText(cells: Cell[]): string {
  if (cells.length === 0) return "no task and agent";
  const counts = cells.map(({ measured }) => measured);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const number = least === most ? `n = ${most}` : `n = ${least} to ${most}`;
  return `${number} ${most === 1 ? "attempt" : "attempts"} per task and agent`;
}

function compareTable(report: Report, names: DisplayNames): PaperTable {
  const differs = ({ difference }: AgentComparison) =>
    difference.kind === "difference" ? differenceTexts(difference) : undefined;
  type Tested = Extract<AgentComparison["overall"], { kind: "tested" }>;
  const tested = (head: string, shown: (overall: Tested) => string) =>
    numeric(head, ({ overall }: AgentComparison) => (overall.kind === "tested" ? shown(overall) : noNumber));
  return {
    name: "compare",
    caption: withFootnotes(
      `Agents compared over all tasks (${countText(report.cells.filter(({ primary }) => primary))}). Difference: mean normalised score of A minus that of B, ` +
        "failed attempts included, where 0 is the trivial baseline and 1 the reference model, with a 95 % interval from the " +
        "inverted permutation test. P(A better): probability that an attempt of A is better than one of B, ties half, " +
        "with a 95 % interval. p: two-sided permutation test of the agents' labels within tasks. In parentheses: number of tasks.",
      report.attempts,
    ),
    table: tableOf("", oneGroup(report.agentComparisons), [
      column("A", ({ agents }) => names.agent(agents[0])),
      column("B", ({ agents }) => names.agent(agents[1])),
      numeric("Difference", (each) => {
        const { difference } = each;
        if (difference.kind === "none") return noNumber;
        return `${differs(each)!.value} (${difference.tasks.length})`;
      }),
      numeric("95 % interval", (each) => differs(each)?.interval ?? noNumber),
      tested("P(A better)", ({ statistic, interval }) => rateText(statistic, interval)),
      tested("p", ({ p, tasks }) => `${pText(p)} (${tasks})`),
    ]),
  };
}

function attemptsTable(report: Report, names: DisplayNames): PaperTable {
  const counted = (head: string, of: (cell: Cell) => number) =>
    numeric(head, (cell: Cell) => String(of(cell)));
  return {
    name: "attempts",
    caption: withFootnotes(
      `What became of the attempts (${countText(report.cells.filter(({ primary }) => primary))}). Undecided attempts (undec.) are valid: ` +
        "a rule about them could not be decided. Disq.: disqualified, rej.: rejected, miss.: missing. Pass rate: valid attempts of the measured ones, with Wilson's 95 % interval. Mean of the valid attempts with its " +
        "95 % Student-t interval: conditional on an attempt being valid, and no interval of the mean over all attempts.",
      report.attempts,
    ),
    table: tableOf(
      "",
      paperGroups(report, (task) => report.cells.filter((cell) => cell.task === task && cell.primary)),
      [
        column("Agent", ({ agent }) => names.agent(agent)),
        counted("Valid", ({ validN }) => validN),
        counted("Undec.", ({ undecided }) => undecided),
        counted("Disq.", ({ disqualified }) => disqualified),
        counted("Rej.", ({ rejected }) => rejected),
        counted("Miss.", ({ planned, measured }) => planned - measured),
        numeric("Pass rate", (cell) =>
          cell.measured === 0 ? noNumber : rateText(cell.validN / cell.measured, cell.passInterval),
        ),
        numeric("Mean of valid", (cell) =>
          cell.validMean === null ? noNumber : withoutCount(validText(cell, metricOf(report, cell.metric))),
        ),
      ],
    ),
  };
}

/** The number of valid attempts has a column. */
function withoutCount(text: string): string {
  return text.replace(/ \(n \d+\)$/, "");
}

function bestOfPaperTable(report: Report, names: DisplayNames): PaperTable {
  const cells = report.bestOf?.cells ?? [];
  const groups = paperGroups(report, (task) => cells.filter((cell) => cell.task === task));
  const table = bestOfTable(report, groups, names.agent);
  return {
    name: "best-of",
    caption: withFootnotes(`Best of k. ${bestOfCaption}`, report.attempts),
    table: { ...table, columns: table.columns.map(titled) },
  };
}

function togetherPaperTable(report: Report, names: DisplayNames): PaperTable {
  const table = togetherTable(report, names.agent);
  return {
    name: "together",
    caption: withFootnotes(
      `Teams, single agents and the best of k. ${togetherCaption(report)}`,
      report.attempts,
    ),
    table: { ...table, columns: table.columns.map(titled) },
  };
}

function tasksTable(report: Report, names: DisplayNames): PaperTable {
  return {
    name: "tasks",
    caption: `The tasks (n = ${report.tasks.length}). The metric decides the task. Rules: those whose violation disqualifies an attempt.`,
    table: tableOf("", oneGroup(report.tasks), [
      column("Task", ({ name }) => names.task(name)),
      ...taskColumns(report, names.metric).map(titled),
      numeric("Rules", disqualifyingText),
    ]),
  };
}

function agentsTable(report: Report, names: DisplayNames): PaperTable {
  return {
    name: "agents",
    caption: `The agents (n = ${report.agents.length}). Limits are of one attempt; the time limit is the task's.`,
    table: tableOf("", oneGroup(report.agents), [
      column("Agent", ({ name }) => names.agent(name)),
      ...factColumns(report).map(titled),
    ]),
  };
}
