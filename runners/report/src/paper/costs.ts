// Cost against score: what an agent's attempts at a task spent on average, next to their mean score. Apart from the
// report, as all that comes from ledgers: seconds differ between runs.

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
import { noNumber, tableOf, taskGroups } from "../sections/table-of.ts";
import { amountColumn, type Quantity } from "../units/column-scale.ts";
import { metricOf } from "../units/shown-metric.ts";
import { displayNames } from "./display-names.ts";

/** A mean over the attempts of which the amount is known; null if it is known of none. */
type Spent = { mean: number | null; known: number; of: number };
type Cost = { cell: Cell; spent: Record<Amount, Spent> };

type AmountOfAttempt = {
  head: string;
  title: string;
  /** Of a figure, which plots `of`. */
  axis: string;
  /** Of the printed values, where the column needs no larger one; empty where the head says it. */
  unit: string;
  digits: number;
  quantity?: Quantity;
  /** What `of` is multiplied by to be printed. */
  factor?: number;
  of: (attempt: Times["attempts"][number]) => number | null;
};

const amounts = {
  dollars: {
    head: "dollars",
    title: "Dollars",
    axis: "Dollars",
    unit: "",
    digits: 2,
    of: ({ dollars }) => dollars,
  },
  gpuHours: {
    head: "GPU hours",
    title: "GPU hours",
    axis: "GPU hours",
    unit: "",
    digits: 2,
    of: ({ gpuHours }) => gpuHours,
  },
  hours: {
    ...{
      head: "time",
      title: "Time",
      axis: "Hours",
      unit: "s",
      digits: 1,
      quantity: "seconds",
      factor: 3600,
    },
    of: ({ wallSeconds }) => wallSeconds && wallSeconds / 3600,
  },
  tokens: {
    ...{ head: "tokens", title: "Tokens", axis: "Tokens", unit: "", digits: 0, quantity: "count" },
    of: ({ tokens }) => tokens,
  },
  gpuMemoryPeakMiB: {
    ...{
      head: "peak GPU memory",
      title: "Peak GPU memory",
      axis: "Peak GPU memory, MiB",
      unit: "MiB",
      digits: 0,
      quantity: "mebibytes",
    },
    of: ({ gpuMemoryPeakMiB }) => gpuMemoryPeakMiB ?? null,
  },
} satisfies Record<string, AmountOfAttempt>;
type Amount = keyof typeof amounts;
const amountNames = Object.keys(amounts) as Amount[];

/** One for each task and agent, at the metric that decides the task. */
function costs(report: Report, times: Times): Cost[] {
  return report.cells
    .filter(({ primary }) => primary)
    .map((cell) => {
      const own = times.attempts.filter(
        (one) => one.task === cell.task && one.agent === cell.agent && isUndisturbed(one),
      );
      const spent = (name: Amount): [Amount, Spent] => {
        const known = own.map(amounts[name].of).filter((value) => value !== null);
        return [name, { mean: mean(known) ?? null, known: known.length, of: own.length }];
      };
      return { cell, spent: Object.fromEntries(amountNames.map(spent)) as Cost["spent"] };
    });
}

/** The table for the terminal, Markdown and the page. An amount that is known of no attempt, or always 0, is left out. */
export function costsSection(report: Report, times: Times): Section {
  const rows = costs(report, times);
  const section: Section = {
    heading: `Cost against score (${labelText(report)})`,
    caption:
      "Means over an agent's attempts at a task: what one attempt spent by its ledger (attempts of which it is known/planned) " +
      "and the score (attempts measured/planned) on the metric that decides the task. The normalised score is 0 for the " +
      "trivial baseline and 1 for the reference model.",
    tables: [
      tableOf({
        groups: taskGroups(report, (task) => rows.filter(({ cell }) => cell.task === task)),
        columns: [
          { head: "agent", cell: ({ cell }) => cell.agent },
          { head: "metric", cell: ({ cell }) => metricHead(metricOf(report, cell.metric)) },
          ...shownAmounts(rows).map((name) => amountCells(rows, name, "head")),
          { head: "mean score", rigid: true, cell: ({ cell }) => scoreText(cell, report) },
          { head: "normalised", rigid: true, cell: ({ cell }) => normalisedText(cell) },
        ],
      }),
    ],
    items: [],
  };
  return plainSection(aboutAttempts(section, report));
}

/** A column of the table, in one unit for all rows. */
function amountCells(rows: Cost[], name: Amount, title: "head" | "title") {
  const { unit, digits, quantity, factor = 1, [title]: head }: AmountOfAttempt = amounts[name];
  const values = rows.flatMap(({ spent }) => (spent[name].mean === null ? [] : [spent[name].mean * factor]));
  const { text, headUnit } = quantity
    ? amountColumn(values, quantity, digits)
    : { text: (value: number) => value.toFixed(digits), headUnit: "" };
  return {
    head: [head, headUnit || unit].filter((part) => part !== "").join(", "),
    rigid: true,
    cell: ({ cell, spent }: Cost): TableCell => {
      const { mean, known } = spent[name];
      return textCell(`${mean === null ? "unknown" : text(mean * factor)} (${known}/${cell.planned})`);
    },
  };
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
    table: tableOf({
      groups: report.tasks.map(({ name }) => ({
        name,
        title: names.task(name),
        rows: rows.filter(({ cell }) => cell.task === name),
      })),
      columns: [
        { head: "Agent", cell: ({ cell }) => names.agent(cell.agent) },
        ...shownAmounts(rows).map((name) => amountCells(rows, name, "title")),
        { head: "Score", rigid: true, cell: ({ cell }) => scoreText(cell, report, { withUnit: true }) },
        { head: "Normalised", rigid: true, cell: ({ cell }) => normalisedText(cell) },
      ],
    }),
  };
}

function shownAmounts(rows: Cost[]): Amount[] {
  return amountNames.filter((name) => rows.some(({ spent }) => (spent[name].mean ?? 0) > 0));
}

export type CostPoint = { task: string; agent: string; cost: number; score: number };

/** The first amount that attempts spent, in the order of the table's columns, against the normalised mean; undefined without points. */
export function costPoints(report: Report, times: Times): { head: string; points: CostPoint[] } | undefined {
  const rows = costs(report, times);
  const [amount] = shownAmounts(rows);
  if (amount === undefined) return undefined;
  const points = rows.flatMap(({ cell, spent }) => {
    const { task, agent, normalisedMean: score } = cell;
    const { mean: cost, known, of } = spent[amount];
    return cost === null || known < of || score === null ? [] : [{ task, agent, cost, score }];
  });
  return points.length === 0 ? undefined : { head: amounts[amount].axis, points };
}
