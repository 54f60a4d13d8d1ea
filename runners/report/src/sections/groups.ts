// The parts of each task, in files of their own: sixty subjects would bury the results.

import type { Report } from "@mlrb/formats/report";
import { groupMeans } from "../compare/group-means.ts";
import { validMeanCell } from "../compare/valid-mean-cell.ts";
import { csvLine } from "../formats/csv-line.ts";
import { latexFile } from "../formats/latex.ts";
import { fileHead, markdownSection } from "../formats/markdown.ts";
import { digitsText } from "./digits-text.ts";
import { metricHead, metricOf, taskTitle } from "./report-words.ts";
import { plainSection } from "./sections.ts";
import { type Section, textCell } from "./table.ts";

/** groups.md, ending with a line break; it says so where no score has groups. */
export function groupsMarkdown(report: Report): string {
  return `${fileHead(report)}\n${markdownSection(plainSection(groupsSection(report)))}`;
}

/** groups.tex, a document that compiles as it is. */
export function groupsLatex(report: Report): string {
  return latexFile(report, groupsSection(report));
}

/** groups.csv: one row per task, metric, group and agent. */
export function groupsCsv(report: Report): string {
  const head = ["label", "note", "task", "metric", "unit", "direction", "group", "items"];
  const rows = groupMeans(report).flatMap(({ task, metric, group, items, agents }) => {
    const { unit, direction } = metricOf(report, metric);
    return agents.map(({ agent, attempts, planned, mean }) =>
      csvLine([
        report.label,
        report.note,
        task,
        metric,
        unit,
        direction,
        group,
        items,
        agent,
        attempts,
        planned,
        mean,
      ]),
    );
  });
  return [csvLine([...head, "agent", "validAttempts", "plannedAttempts", "mean"]), ...rows].join("");
}

export function groupsSection(report: Report): Section {
  const agents = report.agents.map(({ name }) => name);
  const all = groupMeans(report);
  return {
    heading: `Groups (${report.label})`,
    caption:
      all.length === 0
        ? "No valid score has groups."
        : "Mean over the valid attempts (valid/planned) on a part of each task's items. Failed attempts are left out, " +
          "because the trivial baseline is known only for the whole task; under Results they count.",
    tables: [
      {
        title: "",
        columns: [
          { head: "metric", rigid: false },
          { head: "group", rigid: false },
          { head: "items", rigid: true },
          ...agents.map((head) => ({ head, rigid: true })),
        ],
        groups: report.tasks
          .map(({ name }) => ({
            name,
            title: taskTitle(report, name),
            rows: all
              .filter(({ task }) => task === name)
              .map(({ metric, group, items, agents: means }) => [
                textCell(metricHead(metricOf(report, metric))),
                textCell(group),
                textCell(items === null ? "differ" : String(items)),
                ...agents.map((agent) =>
                  validMeanCell(
                    means.find((each) => each.agent === agent),
                    (value) => digitsText(value, metricOf(report, metric).digits),
                  ),
                ),
              ]),
          }))
          .filter(({ rows }) => rows.length > 0),
      },
    ],
    items: [],
  };
}
