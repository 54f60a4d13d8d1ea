// The data of a task's figure: every attempt as a point on the primary metric's scale, with the baselines and
// reference models. Pure.

import type { Report } from "@mlrb/formats/report";
import type { Attempt, Seed } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import type { Row } from "@mlrb/formats/report/row";
import { counting } from "../../compare/counting.ts";
import { meanText, scoreError, supportedText } from "../../sections/digits-text.ts";
import { baselineText, grouped } from "../../sections/report-words.ts";
import { rowName } from "../../sections/rows-section.ts";
import type { Digits } from "../../units/column-scale.ts";
import { inShownUnit, metricOf } from "../../units/shown-metric.ts";

export type FigureData = NonNullable<ReturnType<typeof figureData>>;

/** `names` mark the trivial baseline and the reference model. */
export type FigureLine = { names: string[]; value: number; text: string; marked: boolean };

/** `counts`: the score enters the mean. `failed`: the trivial baseline enters in its place; `words` hold the reason. */
export type FigurePoint = {
  agent: string;
  seed: Seed;
  value: number;
  /** `value` with the digits that its error supports. */
  text: string;
  kind: "counts" | "failed";
  words: string;
  implausible: boolean;
};

/** Undefined where the task has no primary metric or no attempts. `absent`: attempts without a point, and why. */
export function figureData(report: Report, task: string) {
  const cells = report.cells.filter((cell) => cell.task === task && cell.primary);
  const first = cells[0];
  if (!first) return undefined;
  const about = metricOf(report, first.metric);
  const { name: metric, digits, direction, unit } = about;
  const baseline = baselineText(first, about, report.rows);
  const points: FigurePoint[] = [];
  const absent: { agent: string; seed: Seed; why: string }[] = [];
  for (const attempt of report.attempts.filter((each) => each.task === task)) {
    const { agent, seed } = attempt;
    const way = counting(attempt, metric);
    const of = { agent, seed, implausible: false };
    if (way.kind === "valid")
      points.push(validPoint(cells.find((cell) => cell.agent === agent)!, { attempt, digits, baseline }));
    else if (way.kind === "missing") absent.push({ agent, seed, why: `not measured: ${way.cause}` });
    else if (first.baseline === null)
      absent.push({ agent, seed, why: `${way.because}; the trivial baseline is unknown` });
    else points.push({ ...of, value: first.baseline, text: baseline, kind: "failed", words: failedWords });
  }
  const shown = (value: number) => inShownUnit(value, about);
  const means = cells.flatMap((cell) => {
    const { agent, mean, validInterval } = cell;
    if (mean === null) return [];
    // of the valid attempts only
    const interval = validInterval?.map(shown) ?? null;
    return [{ agent, mean: shown(mean), text: meanText(cell, about, mean), interval }];
  });
  const rows = report.rows.filter(
    (row): row is Row & { value: number } => row.task === task && row.metric === metric && row.value !== null,
  );
  // rows with the same text are one line with all their names
  const textOf = ({ value, standardError }: (typeof rows)[number]) =>
    supportedText(value, digits, standardError);
  const lines = grouped(rows, (row) => [textOf(row)]).map(
    (same): FigureLine => ({
      text: textOf(same[0]!),
      names: [...new Set(same.toSorted((a, b) => rank(a) - rank(b)).map(rowName))],
      value: shown(same[0]!.value),
      marked: same.some(({ baseline, reference }) => baseline || reference),
    }),
  );
  if (points.length === 0 && absent.length === 0) return undefined;
  const scaled = points.map((point) => ({ ...point, value: shown(point.value) }));
  return { task, metric, unit, direction, points: scaled, means, lines, absent };
}

/** The rows that mark the normalised score first. */
function rank({ baseline, reference }: Row): number {
  return baseline || reference ? 0 : 1;
}

const failedWords = "failed, scored at the trivial baseline";

/** A score worse than the trivial baseline counts as the baseline, and would stretch the axis. */
function validPoint(
  cell: Cell,
  { attempt: { seed, scores }, digits, baseline }: { attempt: Attempt; digits: Digits; baseline: string },
): FigurePoint {
  const at = cell.seeds.indexOf(seed);
  const [value, counted] = [cell.values[at]!, cell.counted[at]!];
  const implausible = cell.implausible.some((each) => each.seed === seed);
  const point = { agent: cell.agent, seed, value: counted, implausible };
  const text = supportedText(value, digits, scoreError(scores[cell.metric]));
  if (value === counted) return { ...point, text, kind: "counts", words: implausible ? "implausible" : "" };
  const words = `${text}, worse than the trivial baseline and counted as it`;
  return { ...point, text: baseline, kind: "failed", words };
}

/** The figure in words, for readers who do not see it. */
export function figureWords({ metric, unit, direction, points, means, lines }: FigureData): string {
  const agents = [...new Set(points.map(({ agent }) => agent))].map((agent) => {
    const own = points.filter((point) => point.agent === agent);
    const mean = means.find((each) => each.agent === agent);
    const values = own.map(
      ({ seed, text, words }) => `seed ${seed} ${text}${words === "" ? "" : ` (${words})`}`,
    );
    return `${agent}: ${values.join(", ")}${mean ? `; mean ${mean.text}` : ""}`;
  });
  const against = lines.map(({ names, text }) => `${names.join(", ")} ${text}`);
  return [
    `${metric} in ${unit}, ${direction} is better`,
    ...agents,
    ...(against.length > 0 ? [`compared with ${against.join(", ")}`] : []),
  ].join(". ");
}
