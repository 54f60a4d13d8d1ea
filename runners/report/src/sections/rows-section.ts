// The baselines and reference models, and how each agent's mean compares with them.

import type { Report } from "@mlrb/formats/report";
import type { Row } from "@mlrb/formats/report/row";
import { meanError, supportedText } from "./digits-text.ts";
import { grouped, metricHead, metricOf } from "./report-words.ts";
import { type Section, type TableCell, textCell } from "./table.ts";
import { agentColumns, tableOf, taskGroups } from "./table-of.ts";

export function rowsSection(report: Report): Section {
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
      tableOf({
        groups: taskGroups(report, (task) => report.rows.filter((row) => row.task === task)),
        columns: [
          { head: "metric", cell: ({ metric }) => metricHead(metricOf(report, metric)) },
          { head: "row", cell: rowName },
          {
            head: "value",
            rigid: true,
            cell: ({ metric, value, standardError }) =>
              value === null
                ? textCell("rejected", "bad")
                : supportedText(value, metricOf(report, metric).digits, standardError),
          },
          ...agentColumns(report, (row: Row, agent) => standingCell(row, agent, report)),
        ],
      }),
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
function standingCell(row: Row, agent: string, report: Report): TableCell {
  const standing = row.standings.find((each) => each.agent === agent);
  if (!standing || standing.kind === "unknown") return textCell("unknown", "faint");
  if (standing.kind === "level") return textCell("equal");
  const cell = report.cells.find(
    (each) => each.task === row.task && each.metric === row.metric && each.agent === agent,
  );
  const error = Math.max((cell && meanError(cell)) ?? 0, row.standardError ?? 0);
  const by = supportedText(standing.by, metricOf(report, row.metric).digits, error);
  if (Number(by) === 0) return textCell("equal");
  const text = `${by} ${standing.kind}`;
  return standing.kind === "worse" && row.floor ? textCell(text, "bad") : textCell(text);
}
