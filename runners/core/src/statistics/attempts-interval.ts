// The interval of a mean over attempts, or why there is none. Few attempts are the rule here: what one value,
// equal values or the end of a metric's range do to an interval is said, not drawn.
import { type Interval, meanInterval } from "./mean-interval.ts";

export type AttemptsInterval =
  | {
      kind: "interval";
      low: number;
      high: number;
      /** Where the t interval went beyond the metric's range and was cut there. */
      cut: { low: boolean; high: boolean };
    }
  | { kind: "none"; why: NoInterval };

export type NoInterval =
  | "no-values"
  /** One attempt says nothing of the spread. */
  | "one-value"
  /** Equal values do not show that the next attempt would be equal: an interval of no width would say so. */
  | "no-spread"
  | "out-of-range";

/**
 * The 95 % Student-t interval of the mean of `values`, in their unit, cut to `range` (the least and the most
 * that the metric can be; the mean lies within, so cutting loses no coverage). Two values give an interval
 * nine standard deviations wide either way, as they should. `out-of-range`: arithmetic left the range of a
 * double. Throws on values that are not finite or not in `range`.
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
