// Cost against score for a paper: what an attempt spent on average, and the normalised mean, for each task and agent.
import type { Report } from "@mlrb/formats/report";
import type { Times } from "@mlrb/formats/times";
import { labelText } from "../read/condition-words.ts";
import { costPoints } from "./costs.ts";
import { displayNames } from "./display-names.ts";
import { drawLegend, legendLines } from "./figure-legend.ts";
import { PdfPage, pageWidth, roundTicks } from "./pdf-page.ts";

export const costCaption =
  "Cost against score: what an attempt of an agent at a task spent on average, by its ledger, and the normalised mean " +
  "score (0: trivial baseline, 1: reference model). Tasks without a normalised scale and unknown amounts are not drawn.";

const plot = { left: 40, right: pageWidth - 12, height: 190 };

/** figures/cost.pdf; undefined if no amount and score are known together. */
export async function costFigure(report: Report, times: Times): Promise<Buffer | undefined> {
  const found = costPoints(report, times);
  if (!found) return undefined;
  const { head, points } = found;
  const names = displayNames(report);
  const legend = legendLines(report);
  const top = 18 + 11 * legend.length;
  const bottom = top + plot.height;
  const page = new PdfPage(bottom + 32, `${report.title} (${labelText(report)})`);
  for (const [at, line] of legend.entries()) drawLegend(page, line, 8 + 11 * at);
  const scale = (values: number[], from: number, to: number) => {
    const [least, most] = [Math.min(0, ...values), Math.max(...values)];
    const high = most + 0.08 * (most - least || 1);
    return { least, high, at: (value: number) => from + ((value - least) / (high - least)) * (to - from) };
  };
  const across = scale(
    points.map(({ cost }) => cost),
    plot.left,
    plot.right,
  );
  const up = scale([1, ...points.map(({ score }) => score)], bottom, top);
  for (const { value, text } of roundTicks(across.least, across.high)) {
    const x = across.at(value);
    page.line({ x, y: top }, { x, y: bottom }, { colour: "#DDDDDD", width: 0.4 });
    page.text({ x, y: bottom + 7 }, text, { size: 7, align: "center" });
  }
  for (const { value, text } of roundTicks(up.least, up.high)) {
    const y = up.at(value);
    page.line({ x: plot.left, y }, { x: plot.right, y }, { colour: "#DDDDDD", width: 0.4 });
    page.text({ x: plot.left - 4, y }, text, { size: 7, align: "right" });
  }
  page.text({ x: plot.left, y: top - 5 }, "normalised score", { size: 7 });
  page.text({ x: (plot.left + plot.right) / 2, y: bottom + 19 }, `${head} of an attempt, mean`, {
    ...{ size: 7, align: "center" },
  });
  const marked = points.map((point) => ({
    ...point,
    agent: report.agents.findIndex(({ name }) => name === point.agent),
    words: names.task(point.task),
    x: across.at(point.cost),
    y: up.at(point.score),
  }));
  drawNames(page, marked);
  for (const { agent, x, y } of marked) page.mark({ x, y }, agent);
  return page.end();
}

const nameSize = 5.5;

/** Each next to its mark. One that would be on another is moved down. */
function drawNames(page: PdfPage, points: { words: string; x: number; y: number }[]): void {
  const drawn: { left: number; right: number; y: number }[] = [];
  for (const { words, x, y: own } of [...points].sort((a, b) => a.y - b.y || a.x - b.x)) {
    const width = page.widthOf(words, nameSize);
    const isRight = x + 5 + width < plot.right;
    const left = isRight ? x + 4.5 : x - 4.5 - width;
    const right = left + width;
    let y = own;
    for (const other of drawn)
      if (other.left < right && left < other.right && y < other.y + nameSize) y = other.y + nameSize;
    drawn.push({ left, right, y });
    drawn.sort((a, b) => a.y - b.y);
    page.text({ x: left, y }, words, { size: nameSize, colour: "#555555", isClear: true });
  }
}
