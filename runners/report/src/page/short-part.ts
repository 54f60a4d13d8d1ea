// The page's first answer: which agent is better on which task, and whether that can be told from noise. Two
// questions, kept apart: of these very submissions on these items, and of further attempts.

import type { Report } from "@mlrb/formats/report";
import type { Comparison } from "@mlrb/formats/report/comparison";
import { comparisonError } from "../compare/comparison-error.ts";
import { digitsText } from "../sections/digits-text.ts";
import { pText } from "../sections/p-text.ts";
import { metricHead, metricOf, taskTitle } from "../sections/report-words.ts";
import { type Section, type TableCell, textCell } from "../sections/table.ts";

/** One row for each task and pair of agents; nothing where there are not two agents. */
export function shortSection(report: Report): Section {
  const rows = report.tasks.flatMap(({ name: task, primary }) =>
    report.comparisons
      .filter((each) => each.task === task && each.metric === primary)
      .map((each) => [textCell(taskTitle(report, task)), ...shortRow(report, each)]),
  );
  const column = (head: string, rigid = false) => ({ head, rigid });
  return {
    heading: "In short",
    caption:
      "On the metric that decides each task. “These submissions”: what was handed in, on the same items; told from " +
      "noise where the difference is over two standard errors. “Further attempts”: whether new attempts of the same " +
      "agents would stand in the same order; that takes more attempts than a difference on items does.",
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

function shortRow(report: Report, comparison: Comparison): TableCell[] {
  const metric = metricOf(report, comparison.metric);
  const [first, second] = comparison.agents;
  const head = textCell(metricHead(metric));
  const later = textCell(furtherText(report, comparison));
  if (comparison.kind === "not-compared")
    return [head, textCell("not known", "bad"), textCell("–"), textCell(comparison.why, "bad"), later];
  const { better, difference, clear } = comparison;
  const error = comparisonError(comparison);
  const behind = better === first ? second : first;
  const by = `${digitsText(Math.abs(difference), metric.digits)}${error === null ? "" : ` ± ${digitsText(error, metric.digits, difference)}`}`;
  const told =
    better === null
      ? textCell("level")
      : clear === null
        ? textCell("one item: not known")
        : clear
          ? textCell("told from noise", "strong")
          : textCell("not told from noise", "bad");
  return [
    head,
    textCell(better === null ? `${first} and ${second} are level` : `${better} over ${behind}`),
    textCell(by),
    told,
    later,
  ];
}

/** What attempts as such can tell of one task. */
function furtherText(report: Report, { task, agents }: Comparison): string {
  const found = report.agentComparisons
    .find((each) => each.agents.join("\n") === agents.join("\n"))
    ?.tasks.find((each) => each.task === task);
  if (!found) return "not tested";
  if (found.kind === "too-few") return `not known: ${found.attempts.join(" against ")} are too few`;
  return found.p < 0.05
    ? `told from noise: p = ${pText(found.p)}`
    : `not told from noise: p = ${pText(found.p)}`;
}

function overall(report: Report): { head: string; text: string }[] {
  return report.agentComparisons.map(({ agents, overall, equalSubmissions }) => {
    const head = `over all tasks, ${agents.join(" and ")}`;
    if (overall.kind !== "tested") return { head, text: "not tested" };
    const { statistic, p, tasks } = overall;
    const [first, second] = agents;
    const ahead = statistic > 0.5 ? first : second;
    const share = Math.max(statistic, 1 - statistic);
    const told = p < 0.05 ? "told from noise" : "not told from noise";
    const care =
      equalSubmissions.length > 0
        ? "; p may be too small, since some attempts handed in equal submissions"
        : "";
    const words =
      statistic === 0.5
        ? `neither is ahead over ${tasks} tasks, p = ${pText(p)}`
        : `an attempt of ${ahead} is better with a chance of ${share.toFixed(2)}, the mean of ${tasks} tasks: ${told}, p = ${pText(p)}${care}`;
    return { head, text: words };
  });
}
