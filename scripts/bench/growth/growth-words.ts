// The form of docs/performance/growth.json, and how a step grows: the exponent of its processor time.

export type Measured = { size: number; seconds: number; cpuSeconds: number; peakMiB: number };

/** A step measured at several sizes, of stages, records or events. */
export type GrowthStep = { against: "stages" | "records" | "events"; step: string; measured: Measured[] };

export type Growth = { formatVersion: 1; measuredOn: string; machine: string; steps: GrowthStep[] };

/** A step that uses less than this many times its least processor time at every size does not grow with it. */
const flatRatio = 1.5;

/** Relative error of a median of three on a shared machine. Where a line fits as well, no exponent above 1 is claimed. */
const noise = 0.05;

/** `exponent`: b of the fitted time a + c × size^b, where a is the start of the process; 0 where nothing grows. */
export function growthWords(measured: readonly Measured[]): { exponent: number; words: string } {
  const times = measured.map(({ cpuSeconds }) => cpuSeconds);
  if (Math.max(...times) < flatRatio * Math.min(...times)) return { exponent: 0, words: "time is constant" };
  const points = measured.map(({ size, cpuSeconds }) => ({ size, time: cpuSeconds }));
  const exponent = fittedExponent(points);
  if (exponent > 1 && leastError(points, 1) <= points.length * noise ** 2)
    return { exponent: 1, words: "time is linear, within noise" };
  return { exponent, words: `time ∝ n^${exponent.toFixed(2)}` };
}

type Point = { size: number; time: number };

/**
 * The exponent b from 0 to 2.5 for which a + c × size^b, with a and c of at least 0, has the least squared error.
 * Errors are relative to the time, so that each size counts equally.
 */
export function fittedExponent(points: readonly Point[]): number {
  let best = { exponent: 0, error: Number.POSITIVE_INFINITY };
  for (let step = 1; step <= 250; step++) {
    const exponent = step / 100;
    const error = leastError(points, exponent);
    if (error < best.error) best = { exponent, error };
  }
  return best.exponent;
}

/** Linear least squares for a and c, weighted by 1 / time². */
function leastError(points: readonly Point[], exponent: number): number {
  const [sum1, sumX, sumXX, sumY, sumXY] = [0, 0, 0, 0, 0].map((_, which) =>
    points.reduce((sum, { size, time }) => {
      const x = size ** exponent;
      return sum + [1, x, x * x, time, x * time][which]! / time ** 2;
    }, 0),
  ) as [number, number, number, number, number];
  const c = (sum1 * sumXY - sumX * sumY) / (sum1 * sumXX - sumX ** 2);
  const a = (sumY - c * sumX) / sum1;
  const [start, slope] = a < 0 ? [0, sumXY / sumXX] : [a, c];
  if (slope < 0) return Number.POSITIVE_INFINITY;
  return points.reduce(
    (sum, { size, time }) => sum + ((start + slope * size ** exponent) / time - 1) ** 2,
    0,
  );
}
