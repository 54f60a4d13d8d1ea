// The two errors of a mean, over attempts and over items, which must not be added.

import type { Report } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import { metricOf, type ShownMetric } from "../units/shown-metric.ts";
import { supportedText } from "./digits-text.ts";
import { metricHead } from "./report-words.ts";
import { type Section, type TableCell, textCell } from "./table.ts";
import { agentColumns, column, noNumber, tableSection, taskGroups } from "./table-of.ts";

export function errorsSection(report: Report): Section {
  const about = {
    heading: "Spread of attempts and error over items",
    caption:
      "Of the valid attempts: first the standard deviation between attempts, then the standard error of their mean over " +
      "items. The first is on the same items; the second is for these submissions on other items (≤ marks an upper " +
      "bound). The intervals under Results include only the first.",
  };
  const groups = taskGroups(report, (task) => {
    const cells = report.cells.filter((cell) => cell.task === task && cell.validN > 0);
    return [...Map.groupBy(cells, ({ metric }) => metric)];
  });
  return tableSection(about, groups, [
    column("metric", ([metric]) => metricHead(metricOf(report, metric))),
    ...agentColumns(report, ([metric, cells]: [string, Cell[]], agent) => {
      const cell = cells.find((each) => each.agent === agent);
      return errorsCell(cell, metricOf(report, metric));
    }),
  ]);
}

function errorsCell(cell: Cell | undefined, { digits }: ShownMetric): TableCell {
  if (!cell) return noNumber;
  const { betweenAttempts, overItems, overItemsIs } = cell.errors;
  const spread = betweenAttempts === null ? "–" : supportedText(betweenAttempts, digits, betweenAttempts);
  const items =
    overItems === null
      ? "–"
      : `${overItemsIs === "at-most" ? "≤ " : ""}${supportedText(overItems, digits, overItems)}`;
  return textCell(`${spread}; ${items}`);
}
