// The forest plot for a paper: a row for each task with every agent's mean on the normalised scale, where 0 is the
// trivial baseline and 1 the reference model, so that better is always to the right. Below it, on an axis of their own,
// the differences of means over tasks.
import type { Report } from "@mlrb/formats/report";
import { type DifferenceRow, differenceRows } from "../page/charts/difference-rows.ts";
import { labelText } from "../read/condition-words.ts";
import { type DisplayNames, displayNames } from "./display-names.ts";
import { drawLegend, legendLines } from "./figure-legend.ts";
import { type ForestRow, forestRows } from "./forest-rows.ts";
import { colourOf, faint, PdfPage, pageWidth, roundTicks } from "./pdf-page.ts";

export const forestCaption =
  "Normalised score of each agent at each task: 0 is the trivial baseline, 1 the reference model, and better is to the " +
  "right. Large marks: mean over attempts, failed ones included; small marks: attempts, crosses: failed ones. Hollow " +
  "marks: a task without a normalised scale, where 1 is the best attempt. Lines: 95 % Student-t interval of the mean of " +
  "valid attempts, only where every attempt is valid; a line that leaves the figure is cut. Below: differences of means " +
  "over tasks between the leading agent and each other one, with the 95 % interval of the inverted permutation test " +
  "where there is one; right of 0 the leading agent is better.";

const plot = { left: 118, right: pageWidth - 12 };
const agentHeight = 7;
const tickHeight = 16;
const differenceHeight = 20;

/** A range of values on the page's width. */
type Axis = { low: number; high: number; at: (value: number) => number };

/** figures/scores.pdf; undefined if no task has a normalised scale. */
export async function forestFigure(report: Report): Promise<Buffer | undefined> {
  const rows = forestRows(report);
  if (rows.every(({ scale }) => scale === "own")) return undefined;
  const names = displayNames(report);
  const differences = differenceRows(report);
  const rowHeight = Math.max(13, agentHeight * report.agents.length + 5);
  const legend = legendLines(report);
  const top = 8 + 11 * legend.length;
  const bottom = top + rowHeight * rows.length;
  const below = bottom + 2 * tickHeight;
  const height = below + (differences.length && differenceHeight * differences.length + 2 * tickHeight);
  const page = new PdfPage(height, `${report.title} (${labelText(report)})`);
  for (const [at, line] of legend.entries()) drawLegend(page, line, 8 + 11 * at);
  const axis = axisOf(domainOf(rows));
  drawAxis(page, { axis, top, bottom, label: "normalised score (better is to the right)", dashed: [0, 1] });
  for (const [at, row] of rows.entries())
    drawRow(page, row, { axis, names, report, y: top + rowHeight * at, rowHeight });
  drawRule(page, bottom);
  if (differences.length > 0) drawDifferences(page, differences, { names, top: below });
  return page.end();
}

/** Intervals of few attempts can be very long: they widen the axis only a little. */
function domainOf(rows: ForestRow[]): [number, number] {
  const values = rows.flatMap(({ marks }) =>
    marks.flatMap(({ mean, seeds, failed }) => [mean, ...seeds, ...failed]),
  );
  const [low, high] = [Math.min(0, ...values), Math.max(1, ...values)];
  const ends = rows.flatMap(({ marks }) => marks.flatMap(({ interval }) => interval ?? []));
  const room = 0.25 * (high - low);
  return [
    Math.max(low - room, Math.min(low - 0.05, ...ends)),
    Math.min(high + room, Math.max(high + 0.05, ...ends)),
  ];
}

function axisOf([low, high]: [number, number]): Axis {
  const width = plot.right - plot.left;
  const at = (value: number) =>
    plot.left + ((Math.min(high, Math.max(low, value)) - low) / (high - low)) * width;
  return { low, high, at };
}

type AxisLook = { axis: Axis; top: number; bottom: number; label: string; dashed: number[] };

function drawAxis(page: PdfPage, { axis, top, bottom, label, dashed }: AxisLook): void {
  for (const { value, text } of roundTicks(axis.low, axis.high)) {
    const x = axis.at(value);
    page.line({ x, y: top }, { x, y: bottom }, { colour: "#DDDDDD", width: 0.4 });
    page.text({ x, y: bottom + 7 }, text, { size: 7, align: "center" });
  }
  for (const value of dashed) {
    const x = axis.at(value);
    page.line({ x, y: top }, { x, y: bottom }, { colour: faint, width: 0.6, dash: 2 });
  }
  page.text({ x: (plot.left + plot.right) / 2, y: bottom + 19 }, label, { size: 7, align: "center" });
}

function drawRule(page: PdfPage, y: number): void {
  page.line({ x: 4, y }, { x: plot.right, y }, { colour: "#BBBBBB", width: 0.3 });
}

type RowPlace = { axis: Axis; names: DisplayNames; report: Report; y: number; rowHeight: number };

function drawRow(page: PdfPage, row: ForestRow, { axis, names, report, y, rowHeight }: RowPlace): void {
  const { at: x } = axis;
  const lane = (agent: number) => y + rowHeight / 2 + (agent - (report.agents.length - 1) / 2) * agentHeight;
  drawRule(page, y);
  const isPlain = row.without === "";
  page.text({ x: 4, y: y + rowHeight / 2 - (isPlain ? 0 : 4) }, row.title);
  if (!isPlain) page.text({ x: 4, y: y + rowHeight / 2 + 4 }, row.without, { size: 6, colour: faint });
  for (const agent of row.lacking)
    page.text({ x: x(0) + 4, y: lane(agent) }, `${names.agent(report.agents[agent]!.name)}: no value`, {
      ...{ size: 6, colour: faint, isClear: true },
    });
  for (const { agent, mean, seeds, failed, interval } of row.marks) {
    const own = lane(agent);
    if (interval)
      page.line(
        { x: x(interval[0]), y: own },
        { x: x(interval[1]), y: own },
        { colour: colourOf(agent), width: 0.9 },
      );
    for (const seed of seeds) page.mark({ x: x(seed), y: own }, agent, { radius: 1.7, isFaint: true });
    for (const seed of failed) page.cross({ x: x(seed), y: own }, agent);
    page.mark({ x: x(mean), y: own }, agent, { isHollow: row.scale === "own" });
  }
}

type Below = { names: DisplayNames; top: number };

/** The note of a row is above its mark. */
function drawDifferences(page: PdfPage, rows: DifferenceRow[], { names, top }: Below): void {
  const ends = rows.flatMap(({ value, interval }) => [value, ...(interval ?? [])].map(Math.abs));
  const most = Math.max(...ends, 0.1) * 1.15;
  const axis = axisOf([-most, most]);
  const bottom = top + differenceHeight * rows.length;
  drawAxis(page, { axis, top, bottom, label: "difference of normalised means over tasks", dashed: [0] });
  for (const [at, { first, second, value, interval, note }] of rows.entries()) {
    const y = top + differenceHeight * at;
    drawRule(page, y);
    const pair = [names.agent(first), `\u2212 ${names.agent(second)}`];
    for (const [line, words] of pair.entries()) {
      const size = Math.min(7.5, (7.5 * (plot.left - 10)) / page.widthOf(words));
      page.text({ x: 4, y: y + 5.5 + 9 * line }, words, { size });
    }
    page.text({ x: plot.left + 3, y: y + 5 }, note, { size: 6, colour: faint, isClear: true });
    const mark = y + 14;
    if (interval)
      page.line(
        { x: axis.at(interval[0]), y: mark },
        { x: axis.at(interval[1]), y: mark },
        {
          ...{ colour: "#000000", width: 0.9 },
        },
      );
    page.diamond({ x: axis.at(value), y: mark });
  }
  drawRule(page, bottom);
}
