// The page's first section: which agent is better on which task. It keeps two questions apart: whether these
// submissions differ on these items, and whether the agents do.

import type { Report } from "@mlrb/formats/report";
import type { Comparison } from "@mlrb/formats/report/comparison";
import { comparisonError } from "../compare/comparison-error.ts";
import { digitsText, supportedDigits } from "../sections/digits-text.ts";
import { metricHead, taskTitle } from "../sections/report-words.ts";
import { pText } from "../sections/statistics-text.ts";
import { type Section, type TableCell, textCell } from "../sections/table.ts";
import { column, numeric, oneGroup, tableSection } from "../sections/table-of.ts";
import { metricOf, type ShownMetric } from "../units/shown-metric.ts";

/** One row for each task and pair of agents; no rows with fewer than two agents. */
export function summarySection(report: Report): Section {
  const rows = report.tasks.flatMap(({ name, primary }) =>
    report.comparisons.filter(({ task, metric }) => task === name && metric === primary),
  );
  const about = {
    heading: "Summary",
    caption:
      "On the metric that decides each task. “Beyond item noise” is of these submissions on the same items: whether their " +
      "difference exceeds two standard errors over items. “p over attempts” is of the permutation test: whether the agents " +
      "differ at the task (adjusted by Holm's method over the tasks of all pairs). It needs more attempts.",
  };
  return tableSection(about, oneGroup(rows), [
    column("task", ({ task }) => taskTitle(report, task)),
    column("decided by", ({ metric }) => metricHead(metricOf(report, metric))),
    column("better", betterCell),
    numeric("by", (each) => byText(each, metricOf(report, each.metric))),
    column("beyond item noise", differenceCell),
    column("p over attempts", (each) => furtherText(report, each)),
  ]);
}

function betterCell({ agents: [first, second], ...found }: Comparison): TableCell {
  if (found.kind === "not-compared") return textCell("unknown", "bad");
  const { better } = found;
  const behind = better === first ? second : first;
  return textCell(better === null ? `${first} and ${second} are equal` : `${better} over ${behind}`);
}

function byText(comparison: Comparison, metric: ShownMetric): string {
  if (comparison.kind === "not-compared") return "–";
  const { difference } = comparison;
  const error = comparisonError(comparison);
  const digits = supportedDigits(metric.digits, error);
  const range = error === null ? "" : ` ± ${digitsText(error, digits, difference)}`;
  return `${digitsText(Math.abs(difference), digits)}${range}`;
}

/** `clear` is null where no standard error is known. */
function differenceCell(comparison: Comparison): TableCell {
  if (comparison.kind === "not-compared") return textCell(comparison.why, "bad");
  const { better, clear } = comparison;
  if (better === null) return textCell("equal");
  if (clear === null) return textCell("unknown: one item has no standard error");
  return clear ? textCell("yes", "strong") : textCell("no", "bad");
}

/** The test over attempts at one task. */
function furtherText(report: Report, { task, agents }: Comparison): string {
  const found = report.agentComparisons
    .find((each) => each.agents.join("\n") === agents.join("\n"))
    ?.tasks.find((each) => each.task === task);
  if (!found) return "not tested";
  if (found.kind === "too-few") return `too few seeds to test (${found.attempts.join(" vs ")})`;
  return pText(found.p);
}
