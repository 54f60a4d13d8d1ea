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
    (same) => ({ head: `${same[0]!.task}, ${same[0]!.name}`, text: same[0]!.title }),
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
    heading: "Floors and anchors",
    caption: "Best first; under each agent, where its mean stands to the row.",
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

function rowName({ name, floor, anchor }: Row): string {
  if (anchor) return `${name} (anchor)`;
  return floor && name !== "floor" ? `${name} (floor)` : name;
}

/** Under an anchor is a fact, under the floor is bad. */
function standingCell(row: Row, agent: string, metric: Metric): TableCell {
  const standing = row.standings.find((each) => each.agent === agent);
  if (!standing || standing.kind === "unknown") return textCell("not known", "faint");
  if (standing.kind === "level") return textCell("level");
  const text = `${digitsText(standing.by, metric.digits)} ${standing.kind}`;
  return standing.kind === "worse" && row.floor ? textCell(text, "bad") : textCell(text);
}
