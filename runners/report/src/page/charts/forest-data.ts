// The data of the forest plot: for every task and agent a mean on a scale on which better is right, its interval
// where that covers the mean, and every attempt. Pure.
import type { Report } from "@mlrb/formats/report";
import type { Attempt, Seed } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { counting } from "../../compare/counting.ts";
import { meanText, normalisedError, supportedText } from "../../sections/digits-text.ts";
import { metricOf, type ShownMetric } from "../../units/shown-metric.ts";

export type ForestData = { tasks: ForestTask[]; agents: string[]; seeds: number };

export type ForestTask = {
  task: string;
  /** The metric that decides the task; null where there is none. */
  metric: string | null;
  /**
   * normalised: 0 is the trivial baseline, 1 the reference model. own: no such scale; 0 is the trivial baseline (the
   * worst attempt where that is unknown), 1 the best attempt.
   */
  scale: "normalised" | "own";
  agents: ForestCell[];
};

export type ForestCell = {
  agent: string;
  /** Of the mean over all attempts that are not missing; null where there is none. */
  at: number | null;
  /** 95 %; null where it is not valid for the mean: too few attempts, repeats, or a failed one among them. */
  interval: [number, number] | null;
  /** The mean and its interval in the metric's unit, as the tables print them. */
  words: string;
  seeds: ForestSeed[];
};

export type ForestSeed = {
  seed: Seed;
  /** Null where the attempt is missing, or failed without a known trivial baseline. */
  at: number | null;
  kind: "valid" | "undecided" | "failed" | "missing";
  words: string;
};

/** Every task of the report, also those without a scale or a measured attempt. */
export function forestData(report: Report): ForestData {
  const agents = report.agents.map(({ name }) => name);
  const seeds = new Set(report.attempts.map(({ seed }) => seed)).size;
  return { tasks: report.tasks.map(({ name }) => taskOf(report, name)), agents, seeds };
}

function taskOf(report: Report, task: string): ForestTask {
  const cells = report.cells.filter((cell) => cell.task === task && cell.primary);
  const attempts = report.attempts.filter((attempt) => attempt.task === task);
  const scale = cells.some(({ normalisedMean }) => normalisedMean !== null) ? "normalised" : "own";
  const place = scaleOf(cells, scale);
  return {
    task,
    metric: cells[0]?.metric ?? null,
    scale,
    agents: report.agents.map(({ name: agent }) => {
      const cell = cells.find((each) => each.agent === agent);
      const own = attempts.filter((attempt) => attempt.agent === agent);
      return cell ? cellOf(report, { cell, own, place }) : emptyCell(agent, own);
    }),
  };
}

/** From the metric's unit to the plot's scale. */
function scaleOf(cells: Cell[], scale: ForestTask["scale"]): (value: number) => number {
  const first = cells[0];
  if (!first) return () => 0;
  const sign = first.direction === "higher" ? 1 : -1;
  const counted = cells.flatMap((cell) => cell.counted.filter((value) => value !== null));
  const good = counted.map((value) => sign * value);
  const low = first.baseline === null ? Math.min(...good) : sign * first.baseline;
  const high =
    scale === "normalised" && first.reference !== null ? sign * first.reference : Math.max(...good);
  const width = high - low;
  return (value) => (width === 0 || !Number.isFinite(width) ? 0 : (sign * value - low) / width);
}

type CellParts = { cell: Cell; own: Attempt[]; place: (value: number) => number };

function cellOf(report: Report, { cell, own, place }: CellParts): ForestCell {
  const metric = metricOf(report, cell.metric);
  const { agent, mean, validInterval, validN, measured } = cell;
  // the interval is of valid attempts: it covers the mean over all only where no attempt failed
  const covers = validInterval !== null && validN === measured;
  const ends = covers ? validInterval.map(place).sort((a, b) => a - b) : null;
  const meanWords =
    mean === null ? "no mean" : `${metric.name} ${meanText(cell, metric, mean)}${unitText(metric)}`;
  const scaled =
    cell.normalisedMean === null
      ? ""
      : `, normalised ${supportedText(cell.normalisedMean, 2, normalisedError(cell))}`;
  const interval = covers
    ? `, 95 % of valid attempts ${validInterval.map((end) => meanText(cell, metric, end)).join(" to ")}`
    : "";
  return {
    agent,
    at: mean === null ? null : place(mean),
    interval: ends === null ? null : [ends[0]!, ends[1]!],
    words: `${meanWords}${scaled}${interval} (${measured} of ${cell.planned} attempts)`,
    seeds: own.map((attempt) => seedOf(attempt, { cell, place, report })),
  };
}

type SeedParts = { cell: Cell; place: (value: number) => number; report: Report };

function seedOf(attempt: Attempt, { cell, place, report }: SeedParts): ForestSeed {
  const { seed, verdict, scores } = attempt;
  const way = counting(attempt, cell.metric);
  if (way.kind === "missing") return { seed, at: null, kind: "missing", words: `missing: ${way.cause}` };
  const counted = cell.counted[cell.seeds.indexOf(seed)] ?? null;
  const at = counted === null ? null : place(counted);
  if (way.kind === "failed")
    return { seed, at, kind: "failed", words: `${way.because}, counts as the trivial baseline` };
  const score = scores[cell.metric];
  const error = score?.kind === "scored" ? score.standardError : null;
  const metric = metricOf(report, cell.metric);
  const words = `${metric.name} ${supportedText(way.value, metric.digits, error)}${unitText(metric)}`;
  if (verdict.kind === "undecided")
    return { seed, at, kind: "undecided", words: `${words}, a rule is undecided` };
  return { seed, at, kind: "valid", words };
}

/** A unit that is not the metric's own. */
function unitText({ headUnit }: ShownMetric): string {
  return headUnit === null ? "" : ` ${headUnit}`;
}

function emptyCell(agent: string, own: Attempt[]): ForestCell {
  const seeds = own.map(
    ({ seed }): ForestSeed => ({ seed, at: null, kind: "missing", words: "no primary metric" }),
  );
  return { agent, at: null, interval: null, words: "no score of a primary metric was planned", seeds };
}

/** The plot in words, for readers who do not see it. */
export function forestWords({ tasks }: ForestData): string {
  const rows = tasks.map(({ task, scale, agents }) => {
    const cells = agents.map(({ agent, words }) => `${agent} ${words}`);
    return `${task}${scale === "own" ? " (no usable reference scale)" : ""}: ${cells.join("; ")}`;
  });
  return `Scores by task, better is right. ${rows.join(". ")}`;
}
