// The forest plot for a paper: a row for each task with every agent's mean on the normalised scale, where 0 is the
// trivial baseline and 1 the reference model, so that better is always to the right.
import type { Report } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import { labelText } from "../read/condition-words.ts";
import { displayNames } from "./display-names.ts";
import { colourOf, faint, PdfPage, pageWidth, roundTicks } from "./pdf-page.ts";

export type ForestRow = {
  title: string;
  /** By the agent's place in the report. `interval` is of the valid attempts, and only where all attempts are valid. */
  marks: { agent: number; mean: number; seeds: number[]; interval: [number, number] | null }[];
  /** Why the row has no mark; empty if it has. */
  without: string;
};

/** A row for each task with attempts, and last the mean over the tasks that have a common scale. */
export function forestRows(report: Report): ForestRow[] {
  const names = displayNames(report);
  const agents = report.agents.map(({ name }) => name);
  const rows = report.tasks.flatMap(({ name: task }): ForestRow[] => {
    const cells = report.cells.filter((cell) => cell.task === task && cell.primary);
    if (cells.length === 0) return [];
    const marks = cells.flatMap((cell) =>
      cell.normalisedMean === null
        ? []
        : [
            {
              agent: agents.indexOf(cell.agent),
              mean: cell.normalisedMean,
              seeds: cell.normalised.filter((value) => value !== null),
              interval: normalisedInterval(cell),
            },
          ],
    );
    return [{ title: names.task(task), marks, without: marks.length > 0 ? "" : "no normalised scale" }];
  });
  const { agents: across, tasks } = report.acrossTasks;
  const marks = across.flatMap(({ agent, mean, tasks: own }) =>
    mean === null || own.length < tasks.length
      ? []
      : [{ agent: agents.indexOf(agent), mean, seeds: [], interval: null }],
  );
  return marks.length === 0
    ? rows
    : [...rows, { title: `Mean of ${tasks.length} tasks`, marks, without: "" }];
}

/** An interval of valid attempts is never drawn around a mean that failed attempts are in. */
function normalisedInterval(cell: Cell): [number, number] | null {
  const { validInterval, validN, measured, floor, anchor } = cell;
  if (!validInterval || validN < measured || floor === null || anchor === null) return null;
  const ends = validInterval.map((end) => (end - floor) / (anchor - floor)).sort((a, b) => a - b);
  return [ends[0]!, ends[1]!];
}

export const forestCaption =
  "Normalised score of each agent at each task: 0 is the trivial baseline, 1 the reference model, and better is to the " +
  "right. Large marks: mean over attempts, failed ones included; small marks: attempts. Lines: 95 % Student-t interval " +
  "of the mean of valid attempts, only where every attempt is valid; a line that leaves the figure is cut.";

const plot = { left: 118, right: pageWidth - 12 };
const agentHeight = 7;
const tickHeight = 16;

/** figures/scores.pdf; undefined if no task has a normalised scale. */
export async function forestFigure(report: Report): Promise<Buffer | undefined> {
  const rows = forestRows(report);
  if (rows.every(({ marks }) => marks.length === 0)) return undefined;
  const rowHeight = Math.max(13, agentHeight * report.agents.length + 5);
  const legend = legendLines(report);
  const top = 8 + 11 * legend.length;
  const bottom = top + rowHeight * rows.length;
  const page = new PdfPage(bottom + 2 * tickHeight, `${report.title} (${labelText(report)})`);
  for (const [at, line] of legend.entries()) drawLegend(page, line, 8 + 11 * at);
  const [low, high] = domainOf(rows);
  const x = (value: number) =>
    plot.left + ((Math.min(high, Math.max(low, value)) - low) / (high - low)) * (plot.right - plot.left);
  for (const { value, text } of roundTicks(low, high)) {
    page.line({ x: x(value), y: top }, { x: x(value), y: bottom }, { colour: "#DDDDDD", width: 0.4 });
    page.text({ x: x(value), y: bottom + 7 }, text, { size: 7, align: "center" });
  }
  for (const value of [0, 1])
    page.line({ x: x(value), y: top }, { x: x(value), y: bottom }, { colour: faint, width: 0.6, dash: 2 });
  page.text(
    { x: (plot.left + plot.right) / 2, y: bottom + 19 },
    "normalised score (better is to the right)",
    {
      ...{ size: 7, align: "center" },
    },
  );
  for (const [at, row] of rows.entries()) {
    const y = top + rowHeight * at;
    page.line({ x: 4, y }, { x: plot.right, y }, { colour: "#BBBBBB", width: 0.3 });
    page.text({ x: 4, y: y + rowHeight / 2 }, row.title);
    if (row.without !== "")
      page.text({ x: x(0) + 4, y: y + rowHeight / 2 }, row.without, { size: 7, colour: faint });
    for (const mark of row.marks) {
      const own = y + rowHeight / 2 + (mark.agent - (report.agents.length - 1) / 2) * agentHeight;
      if (mark.interval)
        page.line(
          { x: x(mark.interval[0]), y: own },
          { x: x(mark.interval[1]), y: own },
          {
            ...{ colour: colourOf(mark.agent), width: 0.9 },
          },
        );
      for (const seed of mark.seeds)
        page.mark({ x: x(seed), y: own }, mark.agent, { radius: 1.7, isFaint: true });
      page.mark({ x: x(mark.mean), y: own }, mark.agent);
    }
  }
  page.line({ x: 4, y: bottom }, { x: plot.right, y: bottom }, { colour: "#BBBBBB", width: 0.3 });
  return page.end();
}

/** Intervals of few attempts can be very long: they widen the axis only a little. */
function domainOf(rows: ForestRow[]): [number, number] {
  const values = rows.flatMap(({ marks }) => marks.flatMap(({ mean, seeds }) => [mean, ...seeds]));
  const [low, high] = [Math.min(0, ...values), Math.max(1, ...values)];
  const ends = rows.flatMap(({ marks }) => marks.flatMap(({ interval }) => interval ?? []));
  const room = 0.25 * (high - low);
  return [
    Math.max(low - room, Math.min(low - 0.05, ...ends)),
    Math.min(high + room, Math.max(high + 0.05, ...ends)),
  ];
}

type LegendEntry = { agent: number; text: string };

const legendWidth = 126;

/** Three agents in a line. */
export function legendLines(report: Report): LegendEntry[][] {
  const names = displayNames(report);
  const entries = report.agents.map(({ name }, agent) => ({ agent, text: names.agent(name) }));
  return Array.from({ length: Math.ceil(entries.length / 3) }, (_, at) => entries.slice(3 * at, 3 * at + 3));
}

export function drawLegend(page: PdfPage, line: LegendEntry[], y: number): void {
  for (const [at, { agent, text }] of line.entries()) {
    const x = 8 + at * legendWidth;
    page.mark({ x, y }, agent);
    const size = Math.min(7.5, (7.5 * (legendWidth - 12)) / page.widthOf(text));
    page.text({ x: x + 6, y }, text, { size });
  }
}
