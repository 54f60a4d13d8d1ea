// Numbers as tables show them: with a decimal point in every locale, and with the digits that their standard
// errors support, i.e. two significant digits of the error and at most the scorer's. report.json and the CSV files
// keep all digits.

import { standardDeviation } from "@mlrb/core/statistics/mean";
import { quantityText } from "@mlrb/core/text/quantity";
import type { Metric } from "@mlrb/formats/report";
import type { AgentDifference } from "@mlrb/formats/report/agent-comparison";
import type { Attempt, AttemptCheckpoint } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import type { Row } from "@mlrb/formats/report/row";
import { type Digits, fixedText, scaledText } from "../units/column-scale.ts";
import type { ShownMetric } from "../units/shown-metric.ts";

const plainMax = 1e7;

/**
 * `value` with `digits` after the point; rounded to tens, hundreds and so on if `digits` is negative. In a
 * column's unit, a value that would be printed as 0 has more digits. Huge values without a column's unit are in
 * powers of ten, so that columns stay narrow. Never "-0.000". An error is in powers of ten if the value that it
 * belongs to (`of`) is.
 */
export function digitsText(value: number, digits: Digits, of = value): string {
  if (typeof digits !== "number") return scaledText(value, digits);
  if (Math.max(Math.abs(value), Math.abs(of)) >= plainMax) {
    if (value === 0) return "0";
    const exponent = Math.floor(Math.log10(Math.abs(value)));
    return value.toExponential(Math.max(0, Math.min(2, exponent + digits)));
  }
  return fixedText(value, digits);
}

type KnownError = number | null | undefined;

/** Digits after the point; negative where even tens are uncertain. An unknown or zero error leaves `digits`. */
export function supportedDigits<T extends Digits>(digits: T, error: KnownError): T;
export function supportedDigits(digits: Digits, error: KnownError): Digits {
  if (error === null || error === undefined || !Number.isFinite(error) || error <= 0) return digits;
  if (typeof digits === "number") return Math.min(digits, errorDigits(error));
  const decimals = Math.min(digits.decimals, errorDigits(error / digits.divisor));
  return { divisor: digits.divisor, decimals };
}

/** Two significant ones. Rounded first: 0.0996 is 0.10, which has two digits after the point. */
function errorDigits(error: number): number {
  return 1 - Number(error.toExponential(1).split("e")[1]);
}

/** `value` with the digits that its standard error supports, at most `digits`. */
export function supportedText(value: number, digits: Digits, error: KnownError): string {
  return digitsText(value, supportedDigits(digits, error));
}

/** One number in a sentence: bytes in their own unit, `492 MB`, others with the digits that their error supports. */
export function sentenceNumber(
  { unit, digits }: Pick<Metric, "unit" | "digits">,
  value: number,
  error: KnownError,
): string {
  return unit === "bytes" ? quantityText(value, null, unit) : supportedText(value, digits, error);
}

/** `value`, the cell's mean over all attempts in one variant, with the digits that the mean's error supports. */
export function meanText(cell: Cell, { digits }: ShownMetric, value: number): string {
  return supportedText(value, digits, meanError(cell));
}

/**
 * The standard error of the mean over all attempts: that of the values that count, failed attempts included, or
 * that of its valid attempts, whichever is larger. It is only for digits, since a few attempts do not show how
 * often they fail.
 */
export function meanError(cell: Pick<Cell, "counted" | "errors" | "validN">): number | null {
  const counted = cell.counted.filter((value) => value !== null);
  return larger(ofMean(standardDeviation(counted), counted.length), validError(cell));
}

/** The standard error of the mean over valid attempts: over attempts or over items, whichever is larger. */
export function validError({ errors, validN }: Pick<Cell, "errors" | "validN">): number | null {
  return larger(ofMean(errors.betweenAttempts, validN), errors.overItems);
}

function ofMean(spread: KnownError, n: number): number | null {
  return spread === null || spread === undefined ? null : spread / Math.sqrt(n);
}

function larger(first: number | null, second: number | null): number | null {
  return first === null || second === null ? (first ?? second) : Math.max(first, second);
}

/** The standard error of a trivial baseline or reference model; null if it has none. */
export function rowError(
  rows: readonly Row[],
  { task, metric }: Pick<Cell, "task" | "metric">,
  name: string | null,
): number | null {
  const row = rows.find((each) => each.task === task && each.metric === metric && each.name === name);
  return row?.standardError ?? null;
}

/** The standard error of a score over its items; null if there is no score. */
export function scoreError(
  score: (Attempt | AttemptCheckpoint)["scores"][string] | undefined,
): number | null {
  return score?.kind === "scored" ? score.standardError : null;
}

/** About the standard error of a mean over `items` of the items behind a mean that has `error` over `of` items. */
export function partError(error: number, { items, of }: { items: number; of: number }): number {
  return error * Math.sqrt(of / items);
}

/** The standard error of a normalised mean, with its baseline and reference model as known numbers; null if unknown. */
export function normalisedError(cell: Cell): number | null {
  const error = meanError(cell);
  if (error === null || cell.baseline === null || cell.reference === null) return null;
  return error / Math.abs(cell.reference - cell.baseline);
}

/** Two significant digits; never 0. */
export function pText(p: number): string {
  return p < 0.001 ? p.toExponential(1) : p.toPrecision(2).replace(/^1\.0$/, "1");
}

/** `0.80 [0.38, 0.96]`; without an interval only the rate. */
export function rateText(rate: number, interval: readonly number[] | null): string {
  const bounds = interval === null ? "" : ` [${interval.map((bound) => bound.toFixed(2)).join(", ")}]`;
  return `${rate.toFixed(2)}${bounds}`;
}

/**
 * A difference of normalised scores, `+0.41` or `−0.41`, and its interval, with two digits or as many as the
 * interval supports; without a sign if they show no difference.
 */
export function differenceTexts({
  value,
  interval,
}: Pick<Extract<AgentDifference, { kind: "difference" }>, "value" | "interval">): {
  value: string;
  interval: string | null;
} {
  const error = interval === null ? null : (interval[1] - interval[0]) / (2 * 1.96);
  const signed = (number: number) => {
    const text = supportedText(number, 2, error);
    return Number(text) > 0 ? `+${text}` : text.replace("-", "−");
  };
  return {
    value: signed(value),
    interval: interval === null ? null : `[${interval.map(signed).join(", ")}]`,
  };
}
