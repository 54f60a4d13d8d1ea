// The best attempt of each task and agent. Papers print it, and no two are compared: the best of more attempts is
// higher. Which mean of a row is bold in a paper's tables is another question.

import type { Published, Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { counting } from "../compare/counting.ts";
import { leftOutReasons } from "../compare/left-out-reasons.ts";
import { gpuClasses } from "../read/gpu-words.ts";
import { footnoteMarks } from "../sections/attempts-section.ts";
import { scoreError, supportedText } from "../sections/digits-text.ts";
import { metricHead, publishedText } from "../sections/report-words.ts";
import { type Section, type TableCell, textCell } from "../sections/table.ts";
import { agentColumns, column, oneGroup, tableSection } from "../sections/table-of.ts";
import { metricOf } from "../units/shown-metric.ts";

type BestAttempt = { cell: Cell; attempt: Attempt; value: number };

/** The best valid attempt of a cell, undecided ones included; of equal ones the first. Undefined if none is valid. */
export function bestAttempt(cell: Cell, { attempts }: Pick<Report, "attempts">): BestAttempt | undefined {
  let best: BestAttempt | undefined;
  for (const attempt of attempts) {
    if (attempt.task !== cell.task || attempt.agent !== cell.agent) continue;
    const way = counting(attempt, cell.metric);
    if (way.kind !== "valid") continue;
    const { value } = way;
    const isBetter = best && (cell.direction === "higher" ? value > best.value : value < best.value);
    if (best === undefined || isBetter) best = { cell, attempt, value };
  }
  return best;
}

export type PrimaryRow = { task: string; cells: Cell[]; published: Published[] };

/** The cells of each task at the metric that decides it, and what others published for the metric. */
export function primaryRows(report: Report): PrimaryRow[] {
  return report.tasks.flatMap(({ name: task }) => {
    const cells = report.cells.filter((cell) => cell.primary && cell.task === task);
    const metric = cells[0]?.metric;
    const published = report.published.filter((each) => each.task === task && each.metric === metric);
    return cells.length === 0 ? [] : [{ task, cells, published }];
  });
}

export function bestSection(report: Report): Section {
  const rows = primaryRows(report);
  const about = {
    heading: "Best attempt of each cell, never compared",
    caption:
      "Never compare these numbers, because the best of more attempts is higher. Each is the best valid score of an agent's attempts " +
      "at a task on the metric that decides it, and how many attempts it is the best of; failed attempts are counted, missing " +
      "ones are not, and equal attempts of a deterministic agent are one.",
  };
  return tableSection(about, oneGroup(rows), [
    column("task", ({ task }) => task),
    column("metric", ({ cells }) => metricHead(metricOf(report, cells[0]!.metric))),
    ...agentColumns(report, ({ cells }: PrimaryRow, agent) => {
      const cell = cells.find((each) => each.agent === agent);
      return bestCell(cell, report);
    }),
    ...(rows.some(({ published }) => published.length > 0)
      ? [column("published", (row: PrimaryRow) => publishedCell(row, report))]
      : []),
  ]);
}

function bestCell(cell: Cell | undefined, report: Report): TableCell {
  if (!cell) return textCell("not planned", "faint");
  if (cell.measured === 0) return textCell("not measured", "bad");
  const found = bestAttempt(cell, report);
  if (!found) return textCell(`none of ${cell.observations} valid`, "bad");
  const { attempt, value } = found;
  const { task, agent, seed, verdict, scores } = attempt;
  const { digits } = metricOf(report, cell.metric);
  const number = supportedText(value, digits, scoreError(scores[cell.metric]));
  const implausible = cell.implausible.some((each) => each.seed === seed);
  const lines = [
    `${number}${footnoteMarks(attempt, gpuClasses(report))} (best of ${cell.observations})`,
    ...(verdict.kind === "undecided" ? ["undecided"] : []),
    ...(implausible ? ["implausible"] : []),
  ];
  return { lines, about: { task, agent, seed } };
}

function publishedCell({ cells, published }: PrimaryRow, report: Report): TableCell {
  const metric = metricOf(report, cells[0]!.metric);
  const note = (text: string) => (text === "" ? "" : `, ${text}`);
  return { lines: published.map((each) => `${publishedText(each, metric)}${note(each.note)}`) };
}

/**
 * Bold in a row: the cell with the best mean of `cells`, which are of one task and metric, if its agent is ahead of every other
 * one beyond item noise; else undefined. A difference that could be noise makes nothing bold, and neither does a
 * cell whose mean is not ranked.
 */
export function clearlyBest(
  cells: readonly Cell[],
  { comparisons }: Pick<Report, "comparisons">,
): Cell | undefined {
  if (cells.some((cell) => leftOutReasons(cell).length > 0)) return undefined;
  const measured = cells.filter(({ mean }) => mean !== null);
  if (measured.length < 2) return undefined;
  const [best] = measured.toSorted((a, b) =>
    a.direction === "higher" ? b.mean! - a.mean! : a.mean! - b.mean!,
  );
  const isAhead = measured.every(
    ({ agent, mean }) =>
      agent === best!.agent ||
      (mean !== best!.mean &&
        comparisons.some(
          (each) =>
            each.kind === "compared" &&
            each.task === best!.task &&
            each.metric === best!.metric &&
            each.agents.includes(agent) &&
            each.better === best!.agent &&
            each.clear === true,
        )),
  );
  return isAhead ? best : undefined;
}
