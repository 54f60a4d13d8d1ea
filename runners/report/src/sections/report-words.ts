// Phrases that several tables share.

import type { Metric, Published, Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import type { Row } from "@mlrb/formats/report/row";
import { importedMark } from "../read/attempt-marks.ts";
import type { ShownMetric } from "../units/shown-metric.ts";
import { digitsText, rowError, sentenceNumber, supportedText } from "./digits-text.ts";
import type { Item } from "./table.ts";

/** `accuracy ↑`, `peak-bytes, MB ↓`: the metric's name, a unit that is not its own, and which direction is better. */
export function metricHead({ name, direction, headUnit }: MetricHead): string {
  return `${name}${headUnit ? `, ${headUnit}` : ""} ${direction === "higher" ? "↑" : "↓"}`;
}

type MetricHead = Pick<ShownMetric, "name" | "direction"> & { headUnit?: string | null };

/** `pass (machine: undecided)` where a person decided otherwise; `rejected (not scorable)`. */
export function verdictText(verdict: Attempt["verdict"]): string {
  const word = verdict.kind;
  if (verdict.kind === "missing") return word;
  if (verdict.notScorable) return `${word} (not scorable)`;
  if (verdict.machine === verdict.kind) return word;
  return `${word} (machine: ${verdict.machine})`;
}

/** Explains the columns and the failed attempts of a table of results. */
export const resultsHelp =
  "Invalid or disqualified attempts, and valid ones worse than the trivial baseline, count as the trivial baseline; " +
  "“valid” excludes the former. The trivial baseline is the score of guessing or of doing nothing. The reference model " +
  "is a known model, scored on the same data.";

/** The mark of a mean that includes imported attempts. */
export function importedMarkOf({ task, agent }: Pick<Cell, "task" | "agent">, attempts: Attempt[]): string {
  return importedMark(attempts.filter((attempt) => attempt.task === task && attempt.agent === agent));
}

/** The trivial baseline of a cell as tables show it. */
export function baselineText(cell: Cell, { digits }: ShownMetric, rows: readonly Row[]): string {
  const { baseline, baselineName } = cell;
  if (baseline === null) return "unknown";
  return supportedText(baseline, digits, rowError(rows, cell, baselineName));
}

/** The reference model of a cell as tables show it; a dash where task.yaml names none. */
export function referenceText(cell: Cell, { digits }: ShownMetric, rows: readonly Row[]): string {
  const { reference, referenceName } = cell;
  if (reference !== null) return supportedText(reference, digits, rowError(rows, cell, referenceName));
  return referenceName === null ? "–" : "unknown";
}

/** `0.541 (n 4) Claude`: a published value, its number of runs, and its source. */
export function publishedText(published: Published, { digits }: ShownMetric): string {
  return publishedWords(published, digitsText(published.value, digits));
}

/** As publishedText, in a sentence: with the unit that no head names. */
export function publishedSentence(published: Published, metric: Metric): string {
  return publishedWords(published, sentenceNumber(metric, published.value, null));
}

function publishedWords({ n, who }: Published, number: string): string {
  return `${number} (n ${n ?? "not given"}) ${who}`;
}

export function taskTitle(report: Report, task: string): string {
  const title = report.tasks.find(({ name }) => name === task)?.title ?? task;
  return title === task ? task : `${task}: ${title}`;
}

/** The first ten digits. */
export function shortDigest(digest: string): string {
  return digest.replace(/^sha256:/, "").slice(0, 10);
}

/** `script-weak 1, 2 and script-strong 1`: attempts of one task by agent and seed. */
export function attemptsText(attempts: Attempt[]): string {
  return [...Map.groupBy(attempts, ({ agent }) => agent)]
    .map(([agent, own]) => `${agent} ${[...new Set(own.map(({ seed }) => seed))].join(", ")}`)
    .join(" and ");
}

/** One item for all attempts of a task that share a text. */
export function attemptItems(found: { attempt: Attempt; text: string }[]): Item[] {
  return grouped(found, ({ attempt, text }) => [attempt.task, text]).map((same) => ({
    head: `${same[0]!.attempt.task}, ${attemptsText(same.map(({ attempt }) => attempt))}`,
    text: same[0]!.text,
  }));
}

/** Why a part of attempts is not known. */
export function notMeasuredItems(attempts: Attempt[], part: "research" | "memorisation" | "overlap"): Item[] {
  const found = attempts.flatMap((attempt) => {
    const of = attempt[part];
    return of?.kind === "not-measured" ? [{ attempt, text: `not measured: ${of.cause}` }] : [];
  });
  return attemptItems(found);
}

/** Those of `list` that share a key, in order of first appearance. */
export function grouped<T>(list: T[], key: (one: T) => string[]): T[][] {
  return [...Map.groupBy(list, (one) => JSON.stringify(key(one))).values()];
}

/** `a`, `a and b`, or `a, b and c`. */
export function listText(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join("");
  return `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
