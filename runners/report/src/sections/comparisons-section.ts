// Is the difference between two agents more than the luck of the items?

import type { Report } from "@mlrb/formats/report";
import type { Comparison } from "@mlrb/formats/report/comparison";
import { comparisonError } from "../compare/comparison-error.ts";
import { digitsText } from "./digits-text.ts";
import { grouped, metricHead, metricOf, taskTitle } from "./report-words.ts";
import { type Section, type TableCell, textCell } from "./table.ts";

export function comparisonsSection(report: Report): Section {
  const groups = report.tasks.map(({ name: task }) => ({
    name: task,
    title: taskTitle(report, task),
    rows: report.comparisons.filter((each) => each.task === task).map((each) => comparisonRow(report, each)),
  }));
  const left = report.comparisons.flatMap((each): { of: Comparison; text: string }[] =>
    each.kind === "not-compared"
      ? [{ of: each, text: `not compared: ${each.why}` }]
      : each.leftOut.map(({ seed, why }) => ({ of: each, text: `without seed ${seed}: ${why}` })),
  );
  return {
    heading: "Agents compared, item by item",
    caption:
      "The difference on the same items, averaged over seeds. Its standard error is over items for these submissions, " +
      "with the items' groups as clusters where that is larger. It does not predict further attempts. The " +
      "ratio is difference / standard error; (≤ 2) marks a difference ≤ 2 standard errors on these items.",
    tables: [
      {
        title: "",
        columns: [
          { head: "metric", rigid: false },
          { head: "ahead", rigid: false },
          { head: "behind", rigid: false },
          { head: "difference", rigid: true },
          { head: "standard error", rigid: true },
          { head: "ratio", rigid: true },
          { head: "items", rigid: true },
        ],
        groups: groups.filter(({ rows }) => rows.length > 0),
      },
    ],
    items: grouped(
      left,
      ({ of, text }) => [of.task, ...of.agents, text],
      (same) => ({
        head: `${same[0]!.of.task}, ${same[0]!.of.agents.join(" and ")}`,
        text: `${same.map(({ of }) => of.metric).join(", ")}: ${same[0]!.text}`,
      }),
    ),
  };
}

function comparisonRow(report: Report, comparison: Comparison): TableCell[] {
  const metric = metricOf(report, comparison.metric);
  const both = comparison.agents.join(", ");
  const head = textCell(metricHead(metric));
  if (comparison.kind === "not-compared") {
    const none = textCell("–", "faint");
    return [head, textCell("not compared", "bad"), textCell(both), none, none, none, none];
  }
  const { difference, items, better, clear } = comparison;
  const behind = comparison.agents.find((agent) => agent !== better);
  const error = comparisonError(comparison);
  const times = error ? Math.abs(difference) / error : null;
  const ratio = times === null ? "–" : times > 999 ? ">999" : times.toFixed(1);
  return [
    head,
    better === null ? textCell("equal") : textCell(better, clear ? "strong" : undefined),
    textCell(better === null ? both : behind!),
    textCell(digitsText(Math.abs(difference), metric.digits)),
    textCell(error === null ? "none" : digitsText(error, metric.digits)),
    textCell(clear === false ? `${ratio} (≤ 2)` : ratio),
    textCell(String(items)),
  ];
}
