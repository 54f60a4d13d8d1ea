// Pearson's correlation in two steps, so that known values are prepared once for many comparisons.

/**
 * The list with mean 0 and length 1, ready for `likeness`. Values that are not finite become the mean.
 * Undefined if over half are not finite, or all finite ones are equal: then there is no correlation.
 */
export function prepared(values: number[]): number[] | undefined {
  const finite = values.filter(Number.isFinite);
  if (finite.length * 2 < values.length) return undefined;
  // scaled first: the square of a value near F32's largest could be infinite
  const largest = Math.max(...finite.map(Math.abs));
  if (!(largest > 0)) return undefined;
  const mean = finite.reduce((sum, value) => sum + value / largest, 0) / finite.length;
  const around = values.map((value) => (Number.isFinite(value) ? value / largest - mean : 0));
  const length = Math.sqrt(around.reduce((sum, value) => sum + value * value, 0));
  return length > 1e-9 ? around.map((value) => value / length) : undefined;
}

/** Correlation of two prepared lists of equal length, -1 to 1. */
export function likeness(a: number[], b: number[]): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!;
  return sum;
}
