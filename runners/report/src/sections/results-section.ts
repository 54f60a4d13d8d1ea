// Who is ahead: a table of tasks by agents with the trivial baseline and the reference model. Notes below it
// explain missing numbers and limits.

import type { Published, Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { counting } from "../compare/counting.ts";
import { metricOf, type ShownMetric, storedMetric } from "../units/shown-metric.ts";
import { meanText, rateText, rowError, scoreError, supportedText } from "./digits-text.ts";
import {
  baselineText,
  grouped,
  importedMarkOf,
  metricHead,
  publishedSentence,
  publishedText,
  referenceText,
  resultsHelp,
} from "./report-words.ts";
import { type Item, type Section, type Table, type TableCell, textCell } from "./table.ts";
import {
  agentColumns,
  byTask,
  column,
  noNumber,
  numeric,
  oneGroup,
  tableOf,
  taskGroups,
} from "./table-of.ts";
import { validText } from "./valid-text.ts";

/** `primaryOnly`: one row for each task, at the metric that decides it. */
export function resultsSection(report: Report, { primaryOnly = false } = {}): Section {
  const isShown = ({ primary }: Cell) => primary || !primaryOnly;
  const rowsOf = (task: string) => metricRows(report, task).filter(({ cells }) => isShown(cells[0]!));
  const groups = primaryOnly
    ? oneGroup(report.tasks.flatMap(({ name }) => rowsOf(name)))
    : taskGroups(report, rowsOf);
  return {
    heading: "Results",
    caption:
      "Mean over attempts (attempts measured/planned). * marks the metric that decides the task. " +
      [resultsHelp, behindHelp, validHelp, report.published.length === 0 ? "" : publishedCaption]
        .filter((text) => text !== "")
        .join(" "),
    tables: [
      tableOf("Means", groups, [
        ...(primaryOnly ? [column("task", ({ cells }: MetricRow) => cells[0]!.task)] : []),
        column("metric", ({ metric, cells }) => `${metricHead(metric)}${cells[0]!.primary ? " *" : ""}`),
        ...agentColumns(report, ({ metric, cells }: MetricRow, agent) => {
          const cell = cells.find((each) => each.agent === agent);
          return resultCell(cell, metric, report.attempts);
        }),
        numeric("trivial baseline", ({ metric, cells }) => baselineText(cells[0]!, metric, report.rows)),
        numeric("reference model", ({ metric, cells }) => referenceText(cells[0]!, metric, report.rows)),
        ...(report.published.length === 0 ? [] : [column("published", publishedCell)]),
      ]),
      ...(primaryOnly ? [] : [behindTable(report)]),
    ],
    items: [
      ...noteItems(report.cells.filter(isShown)),
      ...report.published.map((each): Item => {
        const words = [publishedSentence(each, storedMetric(report, each.metric)), each.note].filter(
          (text) => text !== "",
        );
        return {
          head: `${each.task}, published`,
          text: `${each.metric} ${words.join(", ")}: ${each.source}`,
        };
      }),
    ],
  };
}

const behindHelp =
  "Pass rate: valid attempts of the measured ones, undecided ones included, with Wilson's 95 % interval.";

const validHelp =
  "The mean of valid attempts and its 95 % Student-t interval are conditional on an attempt being valid; the interval is " +
  "cut to the metric's range. It is no interval of the mean over all attempts.";

/** One item for all agents with a note on the same metrics, so that it is true of each of these cells. */
function noteItems(cells: Cell[]): Item[] {
  const notes = cells.flatMap(({ task, agent, metric, notes }) =>
    notes.map((text) => ({ task, agent, metric, text })),
  );
  const ofAgents = grouped(notes, ({ task, agent, text }) => [task, agent, text]).map((same) => ({
    ...same[0]!,
    metrics: same.map(({ metric }) => metric).join(", "),
  }));
  return grouped(ofAgents, ({ task, metrics, text }) => [task, metrics, text]).map((same) => ({
    head: `${same[0]!.task}, ${same.map(({ agent }) => agent).join(" and ")}`,
    text: `${same[0]!.metrics}: ${same[0]!.text}`,
  }));
}

/** The cells of one metric of a task, one for each agent, and what others published for the metric. */
type MetricRow = { metric: ShownMetric; cells: Cell[]; published: Published[] };

function metricRows(report: Report, task: string): MetricRow[] {
  const cells = report.cells.filter((cell) => cell.task === task);
  return [...Map.groupBy(cells, ({ metric }) => metric)].map(([name, own]) => ({
    metric: metricOf(report, name),
    cells: own,
    published: report.published.filter((each) => each.task === task && each.metric === name),
  }));
}

function publishedCell({ metric, published }: MetricRow): TableCell {
  return { lines: published.map((each) => publishedText(each, metric)) };
}

/** The limits of a published value. */
export const publishedCaption =
  "Published values are from other agents' runs, measured by others, and from valid runs only where they say so.";

function resultCell(cell: Cell | undefined, metric: ShownMetric, attempts: Attempt[]): TableCell {
  if (!cell) return textCell("not planned", "faint");
  const coverage = `${cell.measured}/${cell.planned}${importedMarkOf(cell, attempts)}`;
  const about = { task: cell.task, agent: cell.agent, metric: cell.metric };
  if (cell.measured === 0) return { ...textCell(`not measured (${coverage})`, "bad"), about };
  const mean = cell.mean === null ? "no mean" : meanText(cell, metric, cell.mean);
  const lines = [`${mean} (${coverage})`];
  if (cell.undecided > 0) lines.push(`${cell.undecided} undecided`);
  if (cell.disqualified > 0) lines.push(`${cell.disqualified} disqualified`);
  if (cell.rejected > 0) lines.push(`${cell.rejected} rejected`);
  lines.push(...attemptMarks(cell));
  return cell.mean === null ? { lines, mark: "bad", about } : { lines, about };
}

/** Marks of a mean, apart from failed attempts: what its valid attempts have in common, and what needs a look. */
function attemptMarks({ belowBaseline, identical, implausible, planned }: Cell): string[] {
  return [
    ...(belowBaseline > 0 ? [`${belowBaseline} below the baseline`] : []),
    ...(identical.length > 0 ? [`${identical.join(" and ")} of ${planned} identical`] : []),
    ...(implausible.length > 0 ? [`${implausible.length} implausible`] : []),
  ];
}

/** Points, the share that is valid, and the mean of the valid ones. */
function behindTable(report: Report): Table {
  return tableOf("Attempts behind each mean", byTask(report, report.cells), [
    column("metric", ({ metric }) => metricHead(metricOf(report, metric))),
    column("agent", ({ agent }) => agent),
    column("attempts by seed", (cell) => pointsText(report, cell)),
    numeric("pass rate", ({ validN, measured, passInterval }) =>
      measured === 0 ? noNumber : rateText(validN / measured, passInterval),
    ),
    numeric("valid", (cell) => validText(cell, metricOf(report, cell.metric))),
  ]);
}

/** `0.512, failed, 0.498, missing`; a value below the trivial baseline with the value that counts. */
function pointsText(report: Report, cell: Cell): string {
  const { digits } = metricOf(report, cell.metric);
  return cell.seeds
    .map((seed, index) => {
      const attempt = report.attempts.find(
        (each) => each.task === cell.task && each.agent === cell.agent && each.seed === seed,
      )!;
      const way = counting(attempt, cell.metric);
      if (way.kind !== "valid") return way.kind;
      const counted = cell.counted[index]!;
      const value = supportedText(way.value, digits, scoreError(attempt.scores[cell.metric]));
      if (counted === way.value) return value;
      const baseline = supportedText(counted, digits, rowError(report.rows, cell, cell.baselineName));
      return `${value} (counts as ${baseline})`;
    })
    .join(", ");
}
