// The spread between attempts.
import { finite } from "./finite.ts";
import { mean } from "./mean.ts";

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
