// The primary means next to what they would be if undecided attempts, decisions of people, or models that cannot
// be scored counted in another way.

import type { Report } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import type { Sensitivity, SensitivityVariant } from "@mlrb/formats/report/sensitivity";
import { metricOf } from "../units/shown-metric.ts";
import { meanText } from "./digits-text.ts";
import { grouped, metricHead } from "./report-words.ts";
import { type Section, type TableCell, textCell } from "./table.ts";
import { agentColumns, column, noNumber, tableSection, taskGroups } from "./table-of.ts";

const variantTexts: Record<SensitivityVariant, string> = {
  "undecided-as-pass": "undecided as pass",
  "undecided-as-baseline": "undecided as trivial baseline",
  "without-decisions": "without decisions of people",
  "not-scorable-as-missing": "not scorable as missing",
  "without-resumed": "without resumed attempts",
  "with-interventions": "with extended attempts",
  "marked-as-baseline": "marked as trivial baseline",
  "marked-as-missing": "marked as missing",
};

const resumedCaption = "A resumed attempt continued after its supervisor or host died.";

const interventionsCaption = "A person gave extended attempts more budget; under Results they are missing.";

const markedCaption =
  "A judge's answer marks an attempt for a person; under Results it counts with its score. Each judge has its own rows.";

type SensitivityRow = { metric: string; title: string; cellOf: (agent: string) => TableCell };

export function sensitivitySection(report: Report): Section {
  const about = {
    heading: "Sensitivity",
    caption:
      "The mean of the metric that decides the task, if these attempts counted in another way. An undecided attempt has a " +
      "disqualifying rule that the machine could not decide; under Results it counts with its score. A person's decision " +
      "replaces the machine's answer to a rule. A model of a family that cannot be scored is rejected and counts as " +
      "the trivial baseline under Results. In parentheses: the attempts of the row." +
      (report.attempts.some(({ resumed }) => resumed) ? ` ${resumedCaption}` : "") +
      (report.attempts.some(({ interventions }) => interventions) ? ` ${interventionsCaption}` : "") +
      (report.attempts.some(({ marks = [] }) => marks.length > 0) ? ` ${markedCaption}` : ""),
  };
  const groups = taskGroups(report, (task) => rowsOf(report, task));
  return tableSection(about, groups, [
    column("metric", ({ metric }) => metricHead(metricOf(report, metric))),
    column("mean", ({ title }) => title),
    ...agentColumns(report, ({ cellOf }: SensitivityRow, agent) => cellOf(agent)),
  ]);
}

/** The means as they are under Results, then each variant that is about an attempt of the task. */
function rowsOf(report: Report, task: string): SensitivityRow[] {
  const found = report.sensitivity.filter((one) => one.task === task);
  if (found.length === 0) return [];
  const { metric } = found[0]!;
  const cellOf = (agent: string) =>
    report.cells.find((one) => one.task === task && one.agent === agent && one.primary);
  const textOf = (mean: number | null, cell: Cell) =>
    mean === null ? "no mean" : meanText(cell, metricOf(report, metric), mean);
  const shown = (agent: string): TableCell => {
    const cell = cellOf(agent);
    return cell ? textCell(textOf(cell.mean, cell)) : noNumber;
  };
  const variantRow = (own: Sensitivity[]): SensitivityRow => ({
    metric,
    title: variantTexts[own[0]!.variant] + (own[0]!.judge === undefined ? "" : `: ${own[0]!.judge}`),
    cellOf: (agent) => {
      const one = own.find((each) => each.agent === agent);
      return one ? textCell(`${textOf(one.mean, cellOf(agent)!)} (${one.attempts})`) : shown(agent);
    },
  });
  const byVariant = grouped(found, ({ variant, judge = "" }) => [variant, judge]);
  return [{ metric, title: "as under Results", cellOf: shown }, ...byVariant.map(variantRow)];
}
