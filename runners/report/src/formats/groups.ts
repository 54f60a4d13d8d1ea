// The groups of each task, in a file of their own: sixty subjects would hide the results.

import { mean } from "@mlrb/core/statistics/mean";
import type { Report } from "@mlrb/formats/report";
import { meansByName, type NamedMean } from "../compare/means-by-name.ts";
import { partError, supportedText, validError } from "../sections/digits-text.ts";
import { metricHead } from "../sections/report-words.ts";
import { aboutAttempts, plainSection } from "../sections/sections.ts";
import type { Section } from "../sections/table.ts";
import { agentColumns, byTask, column, numeric, tableSection } from "../sections/table-of.ts";
import { validMeanCell } from "../sections/valid-text.ts";
import { metricOf } from "../units/shown-metric.ts";
import { fileHead, markdownSection } from "./markdown.ts";

/** groups.md, ending with a line break; it says so when no score has groups. */
export function groupsMarkdown(report: Report): string {
  return `${fileHead(report)}\n${markdownSection(plainSection(aboutAttempts(groupsSection(report), report)))}`;
}

export function groupsSection(report: Report): Section {
  const means = groupMeans(report);
  const about = {
    heading: `Groups (${report.label})`,
    caption:
      means.length === 0
        ? "No valid score has groups."
        : "Mean over the valid attempts (valid/planned) on a part of each task's items. Failed attempts are left out, " +
          "because the trivial baseline is known only for the whole task; under Results they count.",
  };
  return tableSection(about, byTask(report, means), [
    column("metric", ({ metric }) => metricHead(metricOf(report, metric))),
    column("group", ({ name }) => name),
    numeric("items", (row) => String(row.items ?? "differ")),
    ...agentColumns(report, (row: GroupMean, agent) =>
      validMeanCell(row, agent, (value) =>
        supportedText(value, metricOf(report, row.metric).digits, groupError(report, row, agent)),
      ),
    ),
  ]);
}

/** `items` are those in the group; null where attempts differ in it. */
type GroupMean = NamedMean<{ items: number; error: number }> & { items: number | null };

/** Means by group of every task and metric that has groups: subjects, paradigms, phenomena, subtasks. */
export function groupMeans(report: Report): GroupMean[] {
  return meansByName(report, ({ groups, items, standardError }) =>
    Object.entries(groups).map(([name, group]) => [
      name,
      { ...group, error: partError(standardError, { items: group.items, of: items }) },
    ]),
  ).map((row) => {
    const counts = new Set(row.parts.map(({ items }) => items));
    return { ...row, items: counts.size === 1 ? [...counts][0]! : null };
  });
}

/** About the standard error of the agent's mean: that of a part over its items, or of the whole if that is larger. */
function groupError(report: Report, { task, metric, parts }: GroupMean, agent: string): number {
  const cell = report.cells.find((one) => one.task === task && one.metric === metric && one.agent === agent);
  return Math.max(mean(parts.map(({ error }) => error)) ?? 0, (cell && validError(cell)) ?? 0);
}
