// The baselines and reference models, and how each agent's mean compares with them.

import type { Report } from "@mlrb/formats/report";
import type { ReferenceCheck } from "@mlrb/formats/report/reference-check";
import type { Row } from "@mlrb/formats/report/row";
import { metricOf, storedMetric } from "../units/shown-metric.ts";
import { meanError, supportedText } from "./digits-text.ts";
import { grouped, metricHead } from "./report-words.ts";
import { type Item, type Section, type Table, type TableCell, textCell } from "./table.ts";
import { agentColumns, byTask, column, numeric, tableOf } from "./table-of.ts";

export function rowsSection(report: Report): Section {
  const titles = grouped(report.rows, ({ task, name, title }) => [task, name, title]).map((same) => ({
    head: `${same[0]!.task}, ${plainName(same[0]!)}`,
    text: same[0]!.title,
  }));
  const rejected = grouped(
    report.rows.filter((row) => row.rejected !== null),
    (row) => [row.task, row.name, row.rejected ?? ""],
  ).map((same) => ({
    head: `${same[0]!.task}, ${same[0]!.name}`,
    text: `${same.map(({ metric }) => metric).join(", ")}: rejected: ${same[0]!.rejected}`,
  }));
  return {
    heading: "Trivial baselines and reference models",
    caption: "Best first. Under each agent: how its mean compares with the row.",
    tables: [
      tableOf("", byTask(report, report.rows), [
        column("metric", ({ metric }) => metricHead(metricOf(report, metric))),
        column("row", rowName),
        numeric("value", ({ metric, value, standardError }) =>
          value === null
            ? textCell("rejected", "bad")
            : supportedText(value, metricOf(report, metric).digits, standardError),
        ),
        ...agentColumns(report, (row: Row, agent) => standingCell(row, agent, report)),
      ]),
      expectedTable(report),
    ],
    items: [...titles, ...rejected, ...missed(report)],
  };
}

/**
 * Attempts wait until each model scores what is expected of it, unless a person left the check out. Bytes are in
 * full, as task.yaml expects them.
 */
function expectedTable(report: Report): Table {
  const title = "What is expected of reference models before attempts start";
  return tableOf(title, byTask(report, report.referenceChecks ?? []), [
    column("metric", ({ metric }) =>
      metricHead({ ...storedMetric(report, metric), headUnit: bytesUnit(report, metric) }),
    ),
    column("row", ({ model }) => model),
    numeric("value", ({ metric, value, standardError }: ReferenceCheck) =>
      value === null
        ? textCell("not scored", "bad")
        : bytesUnit(report, metric) === null
          ? supportedText(value, metricOf(report, metric).digits, standardError)
          : String(value),
    ),
    column("expected", ({ expected, source }) => (source === "" ? expected : `${expected} (${source})`)),
    column("result", ({ passed }) => (passed ? "as expected" : textCell("missed", "bad"))),
  ]);
}

function bytesUnit(report: Report, metric: string): string | null {
  const { unit } = storedMetric(report, metric);
  return unit === "bytes" ? unit : null;
}

function missed(report: Report): Item[] {
  const name = (metric: string) =>
    [metric, bytesUnit(report, metric)].filter((part) => part !== null).join(", ");
  return (report.referenceChecks ?? [])
    .filter(({ passed }) => !passed)
    .map(({ task, model, metric, found }) => ({
      head: `${task}, ${model}`,
      text: `${name(metric)}: missed: ${found}`,
    }));
}

function rowName(row: Row): string {
  if (row.reference) return `${row.name} (reference model)`;
  return row.baseline && row.name !== "baseline" ? `${row.name} (trivial baseline)` : plainName(row);
}

/** A baseline that is a number in task.yaml is the row `baseline` in report.json. */
function plainName({ name, baseline }: Row): string {
  return baseline && name === "baseline" ? "trivial baseline" : name;
}

/** Worse than the trivial baseline is marked; worse than a reference model is not. */
function standingCell(row: Row, agent: string, report: Report): TableCell {
  const standing = row.standings.find((each) => each.agent === agent);
  if (!standing || standing.kind === "unknown") return textCell("unknown", "faint");
  const cell = report.cells.find(
    (each) => each.task === row.task && each.metric === row.metric && each.agent === agent,
  );
  // a worse score counts as the baseline
  if (standing.kind === "level")
    return row.baseline && cell?.belowBaseline ? textCell("not better", "bad") : textCell("equal");
  const error = Math.max((cell && meanError(cell)) ?? 0, row.standardError ?? 0);
  const by = supportedText(standing.by, metricOf(report, row.metric).digits, error);
  if (Number(by) === 0) return textCell("equal");
  const text = `${by} ${standing.kind}`;
  return standing.kind === "worse" && row.baseline ? textCell(text, "bad") : textCell(text);
}
