// The confidence interval of a rate, e.g. valid attempts or compiled proofs.
import type { Interval } from "./mean-interval.ts";
import { normal95 } from "./student-t.ts";

/**
 * The 95 % score interval of a rate (Wilson 1927), as fractions within 0 and 1. Unlike the mean ± error
 * form it stays sensible at 0 of n and n of n. Undefined for no trials. Throws on invalid counts.
 */
export function wilsonInterval(successes: number, trials: number): Interval | undefined {
  const counts = Number.isSafeInteger(successes) && Number.isSafeInteger(trials);
  if (!counts || successes < 0 || successes > trials) {
    throw new Error(`bug: ${successes} successes of ${trials} trials`);
  }
  if (trials === 0) return undefined;
  return scoreInterval(successes / trials, trials);
}

/** The same for a rate from 0 to 1 and a positive number of trials that need not be whole. */
export function scoreInterval(rate: number, trials: number): Interval {
  const z2 = normal95 ** 2;
  const scale = 1 + z2 / trials;
  const centre = (rate + z2 / (2 * trials)) / scale;
  const half = (normal95 * Math.sqrt((rate * (1 - rate)) / trials + z2 / (4 * trials ** 2))) / scale;
  // At the ends the exact bound is 0 or 1; rounding would leave 1e-17 of it.
  return [rate === 0 ? 0 : Math.max(0, centre - half), rate === 1 ? 1 : Math.min(1, centre + half)];
}
