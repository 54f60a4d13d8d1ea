// Averages by running update, so that equal values average to exactly that value (a plain sum of three times 0.1
// does not) and sums of large values do not overflow.
import { assertFinite, finite } from "./finite.ts";

/** Arithmetic mean, in the unit of `values`. Undefined for none. Throws on NaN and infinities. */
export function mean(values: readonly number[]): number | undefined {
  assertFinite(values, "value");
  if (values.length === 0) return undefined;
  let average = 0;
  for (const [index, value] of values.entries()) average += (value - average) / (index + 1);
  return finite(average);
}

/** A mean without the digits that the order of its values decides, to tell whether two means are equal. */
export function withoutNoise(mean: number): number {
  return Number(mean.toPrecision(12));
}

/**
 * Sample standard deviation (divisor n − 1), in the unit of `values`. Undefined for fewer than two:
 * one attempt does not show a spread. Two passes, so that a large common offset costs no digits.
 */
export function standardDeviation(values: readonly number[]): number | undefined {
  const centre = mean(values);
  if (centre === undefined || values.length < 2) return undefined;
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return finite(Math.sqrt(squares / (values.length - 1)));
}
