// The numbers of a task's README, generated from the report of the committed smoke run, so that none can differ.

import type { Metric, Report } from "@mlrb/formats/report";
import type { AttemptScore } from "@mlrb/formats/report/attempt";
import { comparisonError } from "@mlrb/report/compare/comparisons";
import { digitsText, supportedDigits } from "@mlrb/report/sections/digits-text";

/** Of the smoke run: numbers in the READMEs of tasks. */
export const smokeFolder = "docs/smoke";
/** Of the authored recordings: every table, for readers. */
export const sampleFolder = "docs/sample";
/** The mark in a README before which and the one after which the sample's numbers are. */
export const sampleMark = "<!-- sample -->";
const end = "<!-- /sample -->";

/** Replaces the text between the marks; undefined where `text` has no marks. */
export function withBlock(text: string, block: string): string | undefined {
  const from = text.indexOf(sampleMark);
  const to = text.indexOf(end);
  if (from < 0 || to < from) return undefined;
  return `${text.slice(0, from + sampleMark.length)}\n${block}${text.slice(to)}`;
}

/** A table of each attempt's scores, the difference of the agents, and the rows to compare with. */
export function sampleBlock(report: Report, task: string): string {
  const primary = report.tasks.find(({ name }) => name === task)!.primary;
  const cells = report.cells.filter((cell) => cell.task === task);
  const names = [...new Set(cells.map(({ metric }) => metric))].sort(
    (a, b) => Number(b === primary) - Number(a === primary),
  );
  const metrics = names.map((name) => report.metrics.find((metric) => metric.name === name)!);
  const attempts = report.attempts
    .filter((attempt) => attempt.task === task)
    .map(({ agent, seed, scores }) => [
      `\`${agent}\`, seed ${seed}`,
      ...metrics.map((metric) => scoreText(scores[metric.name], metric)),
    ]);
  const rowNames = [
    ...new Set(report.rows.filter((row) => row.task === task).map(({ name, title }) => `${name}\n${title}`)),
  ];
  const rows = rowNames.map((both) => {
    const [name, title] = both.split("\n") as [string, string];
    return [title, ...metrics.map((metric) => rowText(report, { task, name, metric }))];
  });
  const table = [
    ["", ...metrics.map(({ name, direction }) => `${name} ${direction === "higher" ? "↑" : "↓"}`)],
    ["---", ...metrics.map(() => "---")],
    ...attempts,
    ["**difference, paired**", ...metrics.map((metric) => differenceText(report, task, metric))],
    ...rows,
  ];
  return (
    `The [committed smoke run](../../${smokeFolder}/README.md). ± is the standard error over items; of the difference, over ` +
    "the items that both agents answered, clustered where items depend on each other. Brackets name the better " +
    "agent.\n\n" +
    `${table.map((cellsOf) => `| ${cellsOf.join(" | ")} |`).join("\n")}\n\n`
  );
}

function scoreText(score: AttemptScore | undefined, metric: Metric): string {
  if (score?.kind !== "scored") return score?.kind ?? "–";
  return valueText(score.value, score.items > 1 ? score.standardError : null, metric);
}

function rowText(report: Report, at: { task: string; name: string; metric: Metric }): string {
  const row = report.rows.find(
    ({ task, name, metric }) => task === at.task && name === at.name && metric === at.metric.name,
  );
  if (!row) return "–";
  if (row.value === null) return "rejected";
  return valueText(row.value, row.standardError || null, at.metric);
}

function differenceText(report: Report, task: string, metric: Metric): string {
  const found = report.comparisons.find((each) => each.task === task && each.metric === metric.name);
  if (found?.kind !== "compared") return "–";
  const error = comparisonError(found);
  return `${valueText(Math.abs(found.difference), error, metric)}${found.better ? ` (${found.better})` : ""}`;
}

function valueText(value: number, error: number | null, metric: Metric): string {
  const digits = supportedDigits(metric.digits, error);
  const text = digitsText(value, digits);
  return error === null ? text : `${text} ± ${digitsText(error, digits, value)}`;
}
