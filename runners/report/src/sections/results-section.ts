// Who is ahead: a table of tasks by agents with the trivial baseline and the reference model. Notes below it
// explain missing numbers and limits.

import type { Published, Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { metricOf, type ShownMetric, storedMetric } from "../units/shown-metric.ts";
import { behindTable } from "./behind-table.ts";
import { meanText } from "./digits-text.ts";
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
import { type Item, type Section, type TableCell, textCell } from "./table.ts";
import { agentColumns, column, numeric, oneGroup, tableOf, taskGroups } from "./table-of.ts";
import { attemptMarks, validHelp } from "./valid-text.ts";

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
