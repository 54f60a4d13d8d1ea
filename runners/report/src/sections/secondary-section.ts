// Secondary measurements of the scorers: a model's cost, size and speed, the number of ties or of truncated
// answers. They decide nothing and help to read a score.

import type { Report } from "@mlrb/formats/report";
import { meansByName, type NamedMean } from "../compare/means-by-name.ts";
import { type ColumnScale, columnScale } from "../units/column-scale.ts";
import { storedMetric } from "../units/shown-metric.ts";
import { digitsText } from "./digits-text.ts";
import { metricHead } from "./report-words.ts";
import type { Section } from "./table.ts";
import { agentColumns, byTask, column, tableSection } from "./table-of.ts";
import { validMeanCell } from "./valid-text.ts";

/** One entry for each task, metric and name. */
export function secondaryMeans(report: Report): NamedMean<{ value: number }>[] {
  return meansByName(report, ({ extra }) => Object.entries(extra).map(([name, value]) => [name, { value }]));
}

export function secondarySection(report: Report): Section {
  const means = secondaryMeans(report);
  const about = {
    heading: `Secondary measurements${report.smoke ? ` (${report.label})` : ""}`,
    caption:
      "Mean over the valid attempts (valid/planned), in the named unit or that of the scorer's README. Seconds and memory depend " +
      "on the machine.",
  };
  return tableSection(about, byTask(report, means), [
    column("metric", ({ metric }) => metricHead(storedMetric(report, metric))),
    column("measurement", (row) => `${row.name}${unitSuffix(scaleOf(row))}`),
    ...agentColumns(report, (row: NamedMean<unknown>, agent) =>
      validMeanCell(row, agent, (value) => shown(value, scaleOf(row))),
    ),
  ]);
}

/** One unit for all agents. A name that ends in bytes says the unit. */
function scaleOf({ name, agents }: NamedMean<unknown>): ColumnScale | undefined {
  const means = agents.flatMap(({ mean }) => mean ?? []);
  return columnScale(means, /bytes$/i.test(name) ? "bytes" : "count");
}

function unitSuffix(scale: ColumnScale | undefined): string {
  return scale === undefined ? "" : `, ${scale.unit}`;
}

/** In a larger unit three significant digits; else whole numbers in full, others to four significant digits. */
function shown(value: number, scale: ColumnScale | undefined): string {
  if (scale !== undefined) return digitsText(value, scale);
  return Number.isInteger(value) ? digitsText(value, 0) : String(Number(value.toPrecision(4)));
}
