// Against what: floors and anchors, and where each agent stands to them.

import type { Metric, Report } from "@mlrb/formats/report";
import type { Row } from "@mlrb/formats/report/row";
import { digitsText } from "./digits-text.ts";
import { grouped, metricHead, metricOf, taskTitle } from "./report-words.ts";
import { type Section, type TableCell, textCell } from "./table.ts";

export function rowsSection(report: Report): Section {
  const agents = report.agents.map(({ name }) => name);
  const body = (row: Row): TableCell[] => {
    const metric = metricOf(report, row.metric);
    return [
      textCell(metricHead(metric)),
      textCell(rowName(row)),
      row.rejected === null ? textCell(digitsText(row.value, metric.digits)) : textCell("rejected", "bad"),
      ...agents.map((agent) => standingCell(row, agent, metric)),
    ];
  };
  const titles = grouped(
    report.rows,
    ({ task, name, title }) => [task, name, title],
    (same) => ({ head: `${same[0]!.task}, ${plainName(same[0]!)}`, text: same[0]!.title }),
  );
  const rejected = grouped(
    report.rows.filter((row) => row.rejected !== null),
    (row) => [row.task, row.name, row.rejected ?? ""],
    (same) => ({
      head: `${same[0]!.task}, ${same[0]!.name}`,
      text: `${same.map(({ metric }) => metric).join(", ")}: rejected: ${same[0]!.rejected}`,
    }),
  );
  return {
    heading: "Trivial baselines and reference models",
    caption: "Best first. Under each agent: how its mean compares with the row.",
    tables: [
      {
        title: "",
        columns: [
          { head: "metric", rigid: false },
          { head: "row", rigid: false },
          { head: "value", rigid: true },
          ...agents.map((head) => ({ head, rigid: true })),
        ],
        groups: report.tasks
          .map(({ name }) => ({
            name,
            title: taskTitle(report, name),
            rows: report.rows.filter((row) => row.task === name).map(body),
          }))
          .filter(({ rows }) => rows.length > 0),
      },
    ],
    items: [...titles, ...rejected],
  };
}

export function rowName(row: Row): string {
  if (row.anchor) return `${row.name} (reference model)`;
  return row.floor && row.name !== "floor" ? `${row.name} (trivial baseline)` : plainName(row);
}

/** A baseline that is a number in task.yaml is the row `floor` in report.json. */
function plainName({ name, floor }: Row): string {
  return floor && name === "floor" ? "trivial baseline" : name;
}

/** Worse than the trivial baseline is marked; worse than a reference model is not. */
function standingCell(row: Row, agent: string, metric: Metric): TableCell {
  const standing = row.standings.find((each) => each.agent === agent);
  if (!standing || standing.kind === "unknown") return textCell("unknown", "faint");
  if (standing.kind === "level") return textCell("equal");
  const text = `${digitsText(standing.by, metric.digits)} ${standing.kind}`;
  return standing.kind === "worse" && row.floor ? textCell(text, "bad") : textCell(text);
}
