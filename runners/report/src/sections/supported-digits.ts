// How many digits of a number its standard error supports: two significant digits of the error, and never more digits
// than the scorer declares. report.json and report.csv keep all digits.

import { standardDeviation } from "@mlrb/core/statistics/mean";
import type { Metric } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import type { Row } from "@mlrb/formats/report/row";
import { digitsText } from "./digits-text.ts";

type KnownError = number | null | undefined;

/** Digits after the point; negative where even tens are uncertain. An unknown or zero error leaves the scorer's `digits`. */
export function supportedDigits(digits: number, error: KnownError): number {
  if (error === null || error === undefined || !Number.isFinite(error) || error <= 0) return digits;
  // rounded first: 0.0996 is 0.10, which has two digits after the point
  const exponent = Number(error.toExponential(1).split("e")[1]);
  return Math.min(digits, 1 - exponent);
}

/** `value`, the cell's mean over all attempts in one variant, with the digits that the mean's error supports. */
export function meanText(cell: Cell, { digits }: Metric, value: number): string {
  return digitsText(value, supportedDigits(digits, meanError(cell)));
}

/**
 * The standard error of the mean over all attempts: that of the values that count, failed attempts included, or that of
 * its valid attempts, whichever is larger. It is only for digits, since a few attempts do not show how often they fail.
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
