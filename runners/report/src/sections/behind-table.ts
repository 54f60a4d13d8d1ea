// The attempts behind each mean: points, the share that is valid, and the mean of the valid ones.

import type { Report } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import { counting } from "../compare/counting.ts";
import { metricOf } from "../units/shown-metric.ts";
import { rowError, scoreError, supportedText } from "./digits-text.ts";
import { metricHead } from "./report-words.ts";
import { rateText } from "./statistics-text.ts";
import type { Table } from "./table.ts";
import { byTask, column, noNumber, numeric, tableOf } from "./table-of.ts";
import { validText } from "./valid-text.ts";

export function behindTable(report: Report): Table {
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
