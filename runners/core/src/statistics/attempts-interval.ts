// The interval of a mean over attempts, or why there is none. Attempts are few: a single value, equal values and
// the ends of a metric's range are reported as reasons instead of misleading intervals.
import { type Interval, meanInterval } from "./mean-interval.ts";

export type AttemptsInterval =
  | {
      kind: "interval";
      low: number;
      high: number;
      /** The ends at which the t interval exceeded the metric's range and was cut. */
      cut: { low: boolean; high: boolean };
    }
  | { kind: "none"; why: NoInterval };

export type NoInterval =
  | "no-values"
  /** One attempt does not show the spread. */
  | "one-value"
  /** Equal values would give an interval of width 0, although the next attempt may differ. */
  | "no-spread"
  | "out-of-range";

/**
 * The 95 % Student-t interval of the mean of `values`, in their unit, cut to `range` (the metric's minimum and
 * maximum; the mean is inside, so cutting loses no coverage). Two values give an interval of nine standard
 * deviations on each side. `out-of-range`: the arithmetic overflowed. Throws on values that are not finite or not
 * in `range`.
 */
export function attemptsInterval(
  values: readonly number[],
  range: Interval = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
): AttemptsInterval {
  const [least, most] = range;
  const outside = values.find((value) => value < least || value > most);
  if (outside !== undefined)
    throw new Error(`bug: the value ${outside} of a metric from ${least} to ${most}`);
  if (values.length === 0) return { kind: "none", why: "no-values" };
  const interval = meanInterval(values);
  if (values.length === 1) return { kind: "none", why: "one-value" };
  if (values.every((value) => value === values[0])) return { kind: "none", why: "no-spread" };
  if (!interval) return { kind: "none", why: "out-of-range" };
  const [low, high] = interval;
  return {
    kind: "interval",
    low: Math.max(low, least),
    high: Math.min(high, most),
    cut: { low: low < least, high: high > most },
  };
}
