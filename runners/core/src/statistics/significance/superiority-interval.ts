// The interval of P(A is better than B). At 0 or 1 of few attempts an estimate of its error would be 0, so the
// interval uses the largest variance that any distribution allows.
import type { Interval } from "../mean-interval.ts";
import { scoreInterval } from "../wilson-interval.ts";

/**
 * The 95 % interval of the mean over `tasks` of P(A is better than B), ties half, from its estimate `statistic`.
 * `tasks` are the numbers of attempts. Of a and b attempts, the variance of the estimate is at most P(1 − P) /
 * min(a, b) (Van Dantzig 1951), and of several tasks it is largest if they have the same P: so this is Wilson's
 * interval with that many trials. It is wider than needed where values do not depend on a few failures. Undefined
 * without tasks.
 */
export function superiorityInterval(
  tasks: readonly { a: number; b: number }[],
  statistic: number,
): Interval | undefined {
  if (tasks.length === 0) return undefined;
  const inverse = tasks.reduce((sum, { a, b }) => sum + 1 / Math.min(a, b), 0);
  return scoreInterval(statistic, tasks.length ** 2 / inverse);
}
