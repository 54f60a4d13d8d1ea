// The page's first section: which agent is better on which task. It keeps two questions apart: whether these
// submissions differ on these items, and whether further attempts would.

import type { Metric, Report } from "@mlrb/formats/report";
import type { Comparison } from "@mlrb/formats/report/comparison";
import { comparisonError } from "../compare/comparison-error.ts";
import { digitsText } from "../sections/digits-text.ts";
import { pText } from "../sections/p-text.ts";
import { metricHead, metricOf, taskTitle } from "../sections/report-words.ts";
import { supportedDigits } from "../sections/supported-digits.ts";
import { type Section, type TableCell, textCell } from "../sections/table.ts";
import { oneGroup, tableOf } from "../sections/table-of.ts";

/** One row for each task and pair of agents; no rows with fewer than two agents. */
export function summarySection(report: Report): Section {
  const rows = report.tasks.flatMap(({ name, primary }) =>
    report.comparisons.filter(({ task, metric }) => task === name && metric === primary),
  );
  return {
    heading: "Summary",
    caption:
      "On the metric that decides each task. “These submissions” compares the final submissions on the same items. " +
      "“Further attempts” tests whether new attempts of the same agents would have the same order (p adjusted by " +
      "Holm's method); this needs more attempts than a difference on items.",
    tables: [
      tableOf({
        groups: oneGroup(rows),
        columns: [
          { head: "task", cell: ({ task }) => taskTitle(report, task) },
          { head: "decided by", cell: ({ metric }) => metricHead(metricOf(report, metric)) },
          { head: "better", cell: betterCell },
          { head: "by", rigid: true, cell: (each) => byText(each, metricOf(report, each.metric)) },
          { head: "these submissions", cell: differenceCell },
          { head: "further attempts", cell: (each) => furtherText(report, each) },
        ],
      }),
    ],
    items: overall(report),
  };
}

function betterCell({ agents: [first, second], ...found }: Comparison): TableCell {
  if (found.kind === "not-compared") return textCell("unknown", "bad");
  const { better } = found;
  const behind = better === first ? second : first;
  return textCell(better === null ? `${first} and ${second} are equal` : `${better} over ${behind}`);
}

function byText(comparison: Comparison, metric: Metric): string {
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
  if (clear === null) return textCell("one item: no standard error");
  return clear
    ? textCell("difference > 2 standard errors on these items", "strong")
    : textCell("difference ≤ 2 standard errors on these items", "bad");
}

/** The test over attempts at one task. */
function furtherText(report: Report, { task, agents }: Comparison): string {
  const found = report.agentComparisons
    .find((each) => each.agents.join("\n") === agents.join("\n"))
    ?.tasks.find((each) => each.task === task);
  if (!found) return "not tested";
  if (found.kind === "too-few") return `too few seeds to test (${found.attempts.join(" vs ")})`;
  return testText(found.p);
}

function testText(p: number): string {
  return `p = ${pText(p)}, permutation test: ${p < 0.05 ? "significant at 0.05" : "not significant at 0.05"}`;
}

function overall(report: Report): { head: string; text: string }[] {
  return report.agentComparisons.map(({ agents, overall, equalSubmissions }) => {
    const head = `over all tasks, ${agents.join(" and ")}`;
    if (overall.kind !== "tested") return { head, text: "not tested" };
    const { statistic, p, tasks } = overall;
    const [first, second] = agents;
    const ahead = statistic > 0.5 ? first : second;
    const share = Math.max(statistic, 1 - statistic);
    const care =
      equalSubmissions.length > 0 ? "; p may be too small: some attempts submitted identical files" : "";
    const found =
      statistic === 0.5
        ? "neither agent is ahead"
        : `an attempt of ${ahead} is better with probability ${share.toFixed(2)}`;
    const over = tasks === 1 ? "at 1 task" : `mean over ${tasks} tasks`;
    return { head, text: `${found}, ${over}; ${testText(p)}${care}` };
  });
}
