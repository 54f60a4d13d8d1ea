// Cost against score: what an agent's attempts at a task spent on average, next to their mean score. Apart from
// the report, as all that comes from ledgers: seconds differ between runs.

import { mean } from "@mlrb/core/statistics/mean";
import { isUndisturbed } from "@mlrb/formats/declared/intervention";
import type { Report } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import type { Times } from "@mlrb/formats/times";
import type { PaperTable } from "../formats/latex-paper-table.ts";
import { withFootnotes } from "../read/attempt-marks.ts";
import { labelText } from "../read/condition-words.ts";
import { meanText, normalisedError, supportedText } from "../sections/digits-text.ts";
import { importedMarkOf, metricHead } from "../sections/report-words.ts";
import { aboutAttempts, plainSection } from "../sections/sections.ts";
import { type Section, type TableCell, textCell } from "../sections/table.ts";
import { column, noNumber, numeric, tableOf, tableSection, taskGroups } from "../sections/table-of.ts";
import { durationColumns, headOf, spentColumns } from "../units/attempt-amounts.ts";
import { amountColumn } from "../units/column-scale.ts";
import { metricOf } from "../units/shown-metric.ts";
import { displayNames, paperGroups } from "./display-names.ts";

/** A mean over the attempts of which the amount is known; null if it is known of none. */
type Spent = { mean: number | null; known: number; of: number };
/** `spent` holds one entry for each of `amounts`. */
type Cost = { cell: Cell; spent: Spent[] };

const amounts = ["dollars", "GPU hours", "time", "tokens", "peak GPU memory", "public rows"].map(
  (wanted) => [...durationColumns, ...spentColumns].find(({ head }) => head === wanted)!,
);

/** What an agent's attempts at a task spent of an amount. */
export function spentAt(
  { attempts }: Times,
  { task, agent }: Pick<Cell, "task" | "agent">,
  amount: (typeof amounts)[number]["of"],
): Spent {
  const own = attempts.filter((one) => one.task === task && one.agent === agent && isUndisturbed(one));
  const known = own.map(amount).filter((value) => value !== null);
  return { mean: mean(known) ?? null, known: known.length, of: own.length };
}

/** One for each task and agent, at the metric that decides the task. */
function costs(report: Report, times: Times): Cost[] {
  return report.cells
    .filter(({ primary }) => primary)
    .map((cell) => ({ cell, spent: amounts.map(({ of }) => spentAt(times, cell, of)) }));
}

/** The table for the terminal, Markdown and the page. An amount that is known of no attempt, or always 0, is left out. */
export function costsSection(report: Report, times: Times): Section {
  const rows = costs(report, times);
  const about = {
    heading: `Cost against score (${labelText(report)})`,
    caption:
      "Means over an agent's attempts at a task: what one attempt spent by its ledger, and its score. In parentheses: " +
      "attempts of which it is known/planned, or measured/planned. The score is on the metric that decides the task. The normalised score is 0 for the " +
      "trivial baseline and 1 for the reference model.",
  };
  const groups = taskGroups(report, (task) => rows.filter(({ cell }) => cell.task === task));
  const section = tableSection(about, groups, [
    column("agent", ({ cell }) => cell.agent),
    column("metric", ({ cell }) => metricHead(metricOf(report, cell.metric))),
    ...shownAmounts(rows).map((at) => amountCells(rows, at, (head) => head)),
    numeric("mean score", ({ cell }) => scoreText(cell, report)),
    numeric("normalised", ({ cell }) => normalisedText(cell)),
  ]);
  return plainSection(aboutAttempts(section, report));
}

/** A column of the table, in one unit for all rows. */
function amountCells(rows: Cost[], at: number, named: (head: string) => string) {
  const { head, unit, quantity, digits } = amounts[at]!;
  const values = rows.map(({ spent }) => spent[at]!.mean).filter((value) => value !== null);
  const { text, headUnit } = amountColumn(values, quantity, digits);
  return numeric(headOf(named(head), headUnit || unit), ({ cell, spent }: Cost): TableCell => {
    const { mean, known } = spent[at]!;
    return textCell(`${mean === null ? "unknown" : text(mean)} (${known}/${cell.planned})`);
  });
}

export function titleOf(head: string): string {
  return `${head[0]!.toUpperCase()}${head.slice(1)}`;
}

/** `withUnit`: where no head names the metric. */
function scoreText(cell: Cell, report: Report, { withUnit = false } = {}): string {
  const metric = metricOf(report, cell.metric);
  const unit = withUnit && metric.headUnit !== null ? ` ${metric.headUnit}` : "";
  const text = cell.mean === null ? "no mean" : `${meanText(cell, metric, cell.mean)}${unit}`;
  return `${text} (${cell.measured}/${cell.planned}${importedMarkOf(cell, report.attempts)})`;
}

function normalisedText(cell: Cell): TableCell {
  if (cell.normalisedMean === null) return noNumber;
  return textCell(supportedText(cell.normalisedMean, 2, normalisedError(cell)));
}

/** tables/cost.tex. An amount that is known of no attempt, or always 0, is left out. */
export function costTable(report: Report, times: Times): PaperTable {
  const names = displayNames(report);
  const rows = costs(report, times);
  const planned = new Set(rows.map(({ cell }) => cell.planned));
  return {
    name: "cost",
    caption: withFootnotes(
      `Cost against score: means over an agent's attempts at a task (n = ${[...planned].join(", ")} planned). In parentheses: attempts of which the amount is known / planned. The ` +
        "score is the mean over attempts at the metric that decides the task; normalised, 0 is the trivial baseline and 1 " +
        "the reference model.",
      report.attempts,
    ),
    table: tableOf(
      "",
      paperGroups(report, (task) => rows.filter(({ cell }) => cell.task === task)),
      [
        column("Agent", ({ cell }) => names.agent(cell.agent)),
        ...shownAmounts(rows).map((at) => amountCells(rows, at, titleOf)),
        numeric("Score", ({ cell }) => scoreText(cell, report, { withUnit: true })),
        numeric("Normalised", ({ cell }) => normalisedText(cell)),
      ],
    ),
  };
}

/** The places of the amounts that an attempt spent. */
function shownAmounts(rows: Cost[]): number[] {
  return [...amounts.keys()].filter((at) => rows.some(({ spent }) => (spent[at]!.mean ?? 0) > 0));
}
