// The data of a task's figure: every attempt as a point on the primary metric's scale, with the baselines and reference
// models. Pure.

import type { Direction } from "@mlrb/formats/judged/score";
import type { Report } from "@mlrb/formats/report";
import type { Seed } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import type { Row } from "@mlrb/formats/report/row";
import { counting } from "../compare/cell.ts";
import { digitsText } from "../sections/digits-text.ts";
import { grouped, metricOf, verdictWord } from "../sections/report-words.ts";
import { rowName } from "../sections/rows-section.ts";

export type FigureData = {
  task: string;
  metric: string;
  unit: string;
  direction: Direction;
  digits: number;
  points: FigurePoint[];
  means: { agent: string; mean: number; interval: [number, number] | null }[];
  /** Rows with the same value in the table's digits are one line with all their names. */
  lines: FigureLine[];
  /** Attempts without a point, and why. */
  absent: { agent: string; seed: Seed; why: string }[];
};

/** `name` marks the trivial baseline and the reference model. */
export type FigureLine = { name: string; value: number; marked: boolean };

/** `counts`: the score enters the mean. `failed`: the trivial baseline enters in its place. */
export type FigurePoint = { agent: string; seed: Seed; value: number; kind: "counts" | "failed" };

/** Undefined where the task has no primary metric or no attempts. */
export function figureData(report: Report, task: string): FigureData | undefined {
  const cells = report.cells.filter((cell) => cell.task === task && cell.primary);
  const first = cells[0];
  if (!first) return undefined;
  const { name: metric, digits, direction, unit } = metricOf(report, first.metric);
  const points: FigurePoint[] = [];
  const absent: FigureData["absent"] = [];
  for (const attempt of report.attempts.filter((each) => each.task === task)) {
    const { agent, seed } = attempt;
    const way = counting(attempt, metric);
    if (way.kind === "valid") points.push({ agent, seed, value: way.value, kind: "counts" });
    else if (way.kind === "missing") absent.push({ agent, seed, why: `not measured: ${way.cause}` });
    else if (first.floor === null)
      absent.push({ agent, seed, why: `${verdictWord(way.because)}; the trivial baseline is unknown` });
    else points.push({ agent, seed, value: first.floor, kind: "failed" });
  }
  const means = cells.flatMap(({ agent, mean, interval }: Cell) =>
    mean === null ? [] : [{ agent, mean, interval }],
  );
  const rows = report.rows.filter(
    (row): row is Row & { value: number } => row.task === task && row.metric === metric && row.value !== null,
  );
  const lines = grouped(
    rows,
    ({ value }) => [digitsText(value, digits)],
    (same) => ({
      name: [...new Set(same.map(rowName))].join(", "),
      value: same[0]!.value,
      marked: same.some(({ floor, anchor }) => floor || anchor),
    }),
  );
  if (points.length === 0 && absent.length === 0) return undefined;
  return { task, metric, unit, direction, digits, points, means, lines, absent };
}

/** The figure in words, for readers who do not see it. */
export function figureWords({ metric, unit, direction, digits, points, means, lines }: FigureData): string {
  const shown = (value: number) => digitsText(value, digits);
  const agents = [...new Set(points.map(({ agent }) => agent))].map((agent) => {
    const own = points.filter((point) => point.agent === agent);
    const mean = means.find((each) => each.agent === agent);
    const values = own.map(
      ({ seed, value, kind }) =>
        `seed ${seed} ${kind === "failed" ? "failed, scored at the trivial baseline " : ""}${shown(value)}`,
    );
    return `${agent}: ${values.join(", ")}${mean ? `; mean ${shown(mean.mean)}` : ""}`;
  });
  const against = lines.map(({ name, value }) => `${name} ${shown(value)}`);
  return [
    `${metric} in ${unit}, ${direction} is better`,
    ...agents,
    ...(against.length > 0 ? [`compared with ${against.join(", ")}`] : []),
  ].join(". ");
}
