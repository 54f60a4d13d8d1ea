// How many digits of a number its error supports: two significant digits of the error, and never more digits than the
// scorer declares. report.json and report.csv keep all digits.

import type { Cell } from "@mlrb/formats/report/cell";
import type { Row } from "@mlrb/formats/report/row";

type KnownError = number | null | undefined;

/** Digits after the point; negative where even tens are uncertain. An unknown or zero error leaves the scorer's `digits`. */
export function supportedDigits(digits: number, error: KnownError): number {
  if (error === null || error === undefined || !Number.isFinite(error) || error <= 0) return digits;
  // rounded first: 0.0996 is 0.10, which has two digits after the point
  const exponent = Number(error.toExponential(1).split("e")[1]);
  return Math.min(digits, 1 - exponent);
}

/** The error that a mean is printed with: half its interval; without one, the error of its valid attempts. */
export function meanError(cell: Pick<Cell, "interval" | "errors" | "validN">): number | null {
  if (cell.interval) return (cell.interval[1] - cell.interval[0]) / 2;
  return validError(cell);
}

/** The standard error of the mean over valid attempts: over attempts or over items, whichever is larger. */
export function validError({ errors, validN }: Pick<Cell, "errors" | "validN">): number | null {
  const { betweenAttempts, overItems } = errors;
  const known = [betweenAttempts === null ? null : betweenAttempts / Math.sqrt(validN), overItems];
  const found = known.filter((error) => error !== null);
  return found.length === 0 ? null : Math.max(...found);
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
