// The confidence interval of a mean over attempts.
import { finite } from "./finite.ts";
import { mean, standardDeviation } from "./mean.ts";
import { studentT95 } from "./student-t.ts";

export type Interval = [low: number, high: number];

/**
 * The 95 % Student-t interval of the mean, in the unit of `values`: mean ± t(n − 1) · s / √n (Student 1908).
 * Undefined for fewer than two values. With two values it extends about nine standard deviations to each side. A
 * percentile bootstrap would cover 74 % at n = 3.
 */
export function meanInterval(values: readonly number[]): Interval | undefined {
  const centre = mean(values);
  const spread = standardDeviation(values);
  if (centre === undefined || spread === undefined) return undefined;
  const half = (studentT95(values.length - 1) * spread) / Math.sqrt(values.length);
  const low = finite(centre - half);
  const high = finite(centre + half);
  return low === undefined || high === undefined ? undefined : [low, high];
}
