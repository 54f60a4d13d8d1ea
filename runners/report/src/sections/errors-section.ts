// How sure a mean is, from two sides that must not be added up.

import type { Metric, Report } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import { digitsText } from "./digits-text.ts";
import { metricHead, metricOf, taskTitle } from "./report-words.ts";
import { type Section, type TableCell, textCell } from "./table.ts";

export function errorsSection(report: Report): Section {
  const agents = report.agents.map(({ name }) => name);
  const groups = report.tasks.map(({ name: task }) => {
    const byMetric = Map.groupBy(
      report.cells.filter((cell) => cell.task === task && cell.validN > 0),
      (cell) => cell.metric,
    );
    const rows = [...byMetric].map(([name, cells]) => [
      textCell(metricHead(metricOf(report, name))),
      ...agents.map((agent) =>
        errorsCell(
          cells.find((cell) => cell.agent === agent),
          metricOf(report, name),
        ),
      ),
    ]);
    return { name: task, title: taskTitle(report, task), rows };
  });
  return {
    heading: "Spread of attempts and error over items",
    caption:
      "Of the valid attempts: first the standard deviation between attempts on the same items; then the standard " +
      "error of their mean over items, for these submissions on other items (≤ marks an upper bound). The intervals " +
      "under Results include only the first.",
    tables: [
      {
        title: "",
        columns: [{ head: "metric", rigid: false }, ...agents.map((head) => ({ head, rigid: true }))],
        groups: groups.filter(({ rows }) => rows.length > 0),
      },
    ],
    items: [],
  };
}

function errorsCell(cell: Cell | undefined, { digits }: Metric): TableCell {
  if (!cell) return textCell("–", "faint");
  const { betweenAttempts, overItems, overItemsIs } = cell.errors;
  const spread = betweenAttempts === null ? "–" : digitsText(betweenAttempts, digits);
  const items =
    overItems === null ? "–" : `${overItemsIs === "at-most" ? "≤ " : ""}${digitsText(overItems, digits)}`;
  return textCell(`${spread}; ${items}`);
}
