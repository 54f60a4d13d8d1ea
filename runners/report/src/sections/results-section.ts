// Who is ahead: a table of tasks by agents with the trivial baseline and the reference model. Notes below it explain
// missing numbers and limits.

import type { Metric, Published, Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { digitsText } from "./digits-text.ts";
import { cutText, intervalText } from "./interval-text.ts";
import {
  anchorText,
  floorText,
  grouped,
  importedMarkOf,
  metricHead,
  metricOf,
  publishedText,
  resultsHelp,
} from "./report-words.ts";
import { meanError, supportedDigits, validError } from "./supported-digits.ts";
import { type Item, type Section, type TableCell, textCell } from "./table.ts";
import { agentColumns, tableOf, taskGroups } from "./table-of.ts";

export function resultsSection(report: Report): Section {
  const notes = report.cells.flatMap(({ task, agent, metric, notes }) =>
    notes.map((text) => ({ task, agent, metric, text })),
  );
  return {
    heading: "Results",
    caption:
      "Mean over attempts ± half the width of its 95 % Student-t interval, then (attempts measured/planned). " +
      "* marks the metric that decides the task. " +
      [resultsHelp, cutText(report.cells), report.published.length === 0 ? "" : publishedCaption]
        .filter((text) => text !== "")
        .join(" "),
    tables: [
      tableOf({
        groups: taskGroups(report, (task) => metricRows(report, task)),
        columns: [
          {
            head: "metric",
            cell: ({ metric, cells }) => `${metricHead(metric)}${cells[0]!.primary ? " *" : ""}`,
          },
          ...agentColumns(report, ({ metric, cells }: MetricRow, agent) =>
            resultCell(
              cells.find((cell) => cell.agent === agent),
              metric,
              report.attempts,
            ),
          ),
          {
            head: "trivial baseline",
            rigid: true,
            cell: ({ metric, cells }) => floorText(cells[0]!, metric, report.rows),
          },
          {
            head: "reference model",
            rigid: true,
            cell: ({ metric, cells }) => anchorText(cells[0]!, metric, report.rows),
          },
          ...(report.published.length === 0 ? [] : [{ head: "published", cell: publishedCell }]),
        ],
      }),
    ],
    items: [
      ...grouped(
        notes,
        ({ task, text }) => [task, text],
        (same) => ({
          head: `${same[0]!.task}, ${[...new Set(same.map(({ agent }) => agent))].join(" and ")}`,
          text: `${[...new Set(same.map(({ metric }) => metric))].join(", ")}: ${same[0]!.text}`,
        }),
      ),
      ...report.published.map((each): Item => {
        const words = [publishedText(each, metricOf(report, each.metric)), each.note].filter(
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

/** The cells of one metric of a task, one for each agent, and what others published for the metric. */
type MetricRow = { metric: Metric; cells: Cell[]; published: Published[] };

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

function resultCell(cell: Cell | undefined, metric: Metric, attempts: Attempt[]): TableCell {
  if (!cell) return textCell("not planned", "faint");
  const { digits } = metric;
  const coverage = `${cell.measured}/${cell.planned}${importedMarkOf(cell, attempts)}`;
  const about = { task: cell.task, agent: cell.agent, metric: cell.metric };
  if (cell.measured === 0) return { ...textCell(`not measured (${coverage})`, "bad"), about };
  const interval = intervalText(cell, metric);
  const half = interval?.kind === "half" ? ` ± ${interval.half}` : "";
  const mean =
    cell.mean === null ? "no mean" : digitsText(cell.mean, supportedDigits(digits, meanError(cell)));
  const lines = [`${mean}${half} (${coverage})`];
  if (interval?.kind === "ends") lines.push(interval.ends);
  if (cell.undecided > 0) lines.push(`${cell.undecided} undecided`);
  if (cell.struck > 0) lines.push(`${cell.struck} disqualified`);
  if (cell.rejected > 0) lines.push(`${cell.rejected} rejected`);
  if (cell.validN !== cell.measured) {
    lines.push(
      cell.validMean === null
        ? "none valid"
        : `valid ${digitsText(cell.validMean, supportedDigits(digits, validError(cell)))} (n ${cell.validN})`,
    );
  }
  return cell.mean === null ? { lines, mark: "bad", about } : { lines, about };
}
