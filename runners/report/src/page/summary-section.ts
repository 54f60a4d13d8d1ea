// The page's first section: which agent is better on which task. It keeps two questions apart: whether these
// submissions differ on these items, and whether further attempts would.

import type { Report } from "@mlrb/formats/report";
import type { Comparison } from "@mlrb/formats/report/comparison";
import { comparisonError } from "../compare/comparison-error.ts";
import { digitsText } from "../sections/digits-text.ts";
import { pText } from "../sections/p-text.ts";
import { metricHead, metricOf, taskTitle } from "../sections/report-words.ts";
import { type Section, type TableCell, textCell } from "../sections/table.ts";

/** One row for each task and pair of agents; no rows with fewer than two agents. */
export function summarySection(report: Report): Section {
  const rows = report.tasks.flatMap(({ name: task, primary }) =>
    report.comparisons
      .filter((each) => each.task === task && each.metric === primary)
      .map((each) => [textCell(taskTitle(report, task)), ...summaryRow(report, each)]),
  );
  const column = (head: string, rigid = false) => ({ head, rigid });
  return {
    heading: "Summary",
    caption:
      "On the metric that decides each task. “These submissions” compares the final submissions on the same items. " +
      "“Further attempts” tests whether new attempts of the same agents would have the same order (p adjusted by " +
      "Holm's method); this needs more attempts than a difference on items.",
    tables: [
      {
        title: "",
        columns: [
          column("task"),
          column("decided by"),
          column("better"),
          column("by", true),
          column("these submissions"),
          column("further attempts"),
        ],
        groups: rows.length === 0 ? [] : [{ name: "", title: "", rows }],
      },
    ],
    items: overall(report),
  };
}

function summaryRow(report: Report, comparison: Comparison): TableCell[] {
  const metric = metricOf(report, comparison.metric);
  const [first, second] = comparison.agents;
  const head = textCell(metricHead(metric));
  const later = textCell(furtherText(report, comparison));
  if (comparison.kind === "not-compared")
    return [head, textCell("unknown", "bad"), textCell("–"), textCell(comparison.why, "bad"), later];
  const { better, difference, clear } = comparison;
  const error = comparisonError(comparison);
  const behind = better === first ? second : first;
  const by = `${digitsText(Math.abs(difference), metric.digits)}${error === null ? "" : ` ± ${digitsText(error, metric.digits, difference)}`}`;
  return [
    head,
    textCell(better === null ? `${first} and ${second} are equal` : `${better} over ${behind}`),
    textCell(by),
    differenceCell(better, clear),
    later,
  ];
}

/** `clear` is null where no standard error is known. */
function differenceCell(better: string | null, clear: boolean | null): TableCell {
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
