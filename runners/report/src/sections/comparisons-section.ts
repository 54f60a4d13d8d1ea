// Whether the difference between two agents' submissions is more than chance among items.

import type { Report } from "@mlrb/formats/report";
import type { Comparison } from "@mlrb/formats/report/comparison";
import { comparisonError } from "../compare/comparisons.ts";
import { metricOf } from "../units/shown-metric.ts";
import { supportedText } from "./digits-text.ts";
import { grouped, metricHead } from "./report-words.ts";
import { type Section, type TableCell, textCell } from "./table.ts";
import { byTask, column, noNumber, numeric, tableSection } from "./table-of.ts";

export function comparisonsSection(report: Report): Section {
  const number = (each: Compared, value: number) =>
    supportedText(value, metricOf(report, each.metric).digits, comparisonError(each));
  const left = report.comparisons.flatMap((each): { of: Comparison; text: string }[] =>
    each.kind === "not-compared"
      ? [{ of: each, text: `not compared: ${each.why}` }]
      : each.leftOut.map(({ seed, why }) => ({ of: each, text: `without seed ${seed}: ${why}` })),
  );
  const about = {
    heading: "Agents compared, item by item",
    caption:
      "The difference on the same items, averaged over seeds. Its standard error is over items for these submissions, " +
      "with the items' groups as clusters where that is larger. The ratio is " +
      "difference / standard error. A ratio over 2 is beyond item noise; it does not predict further attempts.",
  };
  const columns = [
    column("metric", ({ metric }: Comparison) => metricHead(metricOf(report, metric))),
    column("ahead", aheadCell),
    column("behind", behindText),
    compared("difference", (each) => number(each, Math.abs(each.difference))),
    compared("standard error", (each) => {
      const error = comparisonError(each);
      return error === null ? "none" : number(each, error);
    }),
    compared("ratio", ratioText),
    { ...compared("beyond item noise", noiseText), rigid: false },
    compared("items", ({ items }) => String(items)),
  ];
  const items = grouped(left, ({ of, text }) => [of.task, ...of.agents, text]).map((same) => ({
    head: `${same[0]!.of.task}, ${same[0]!.of.agents.join(" and ")}`,
    text: `${same.map(({ of }) => of.metric).join(", ")}: ${same[0]!.text}`,
  }));
  return tableSection(about, byTask(report, report.comparisons), columns, items);
}

type Compared = Extract<Comparison, { kind: "compared" }>;

function compared(head: string, shown: (comparison: Compared) => string) {
  return numeric(head, (each: Comparison) => (each.kind === "compared" ? shown(each) : noNumber));
}

function aheadCell(comparison: Comparison): TableCell {
  if (comparison.kind === "not-compared") return textCell("not compared", "bad");
  const { better, clear } = comparison;
  return better === null ? textCell("equal") : textCell(better, clear ? "strong" : undefined);
}

function behindText(comparison: Comparison): string {
  const better = comparison.kind === "compared" ? comparison.better : null;
  return comparison.agents.filter((agent) => better === null || agent !== better).join(", ");
}

function ratioText(comparison: Compared): string {
  const error = comparisonError(comparison);
  const times = error ? Math.abs(comparison.difference) / error : null;
  return times === null ? "–" : times > 999 ? ">999" : times.toFixed(1);
}

function noiseText({ clear }: Compared): string {
  return clear === null ? "unknown" : clear ? "yes" : "no";
}
