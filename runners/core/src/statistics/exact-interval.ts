// The exact confidence interval of a rate, for claims that must hold at least as often as they say: false alarms.
import type { Interval } from "./mean-interval.ts";
import { bisect } from "./normal.ts";

const tail = 0.025;

/**
 * The 95 % interval of a rate of Clopper and Pearson (1934), as fractions within 0 and 1: at each bound, counts as
 * far from it as `events` have probability 2.5 %. It covers at least 95 % for every rate; Wilson's covers less for
 * small rates. Throws on invalid counts and on no trials.
 */
export function exactInterval(events: number, trials: number): Interval {
  const counts = Number.isSafeInteger(events) && Number.isSafeInteger(trials);
  if (!counts || events < 0 || events > trials || trials === 0)
    throw new Error(`bug: ${events} events of ${trials} trials`);
  return [lowerBound(events, trials), 1 - lowerBound(trials - events, trials)];
}

/** The rate at which `events` or more have probability 2.5 %. */
function lowerBound(events: number, trials: number): number {
  if (events === 0) return 0;
  return bisect([0, 1], 60, (rate) => atLeast(events, trials, rate) < tail);
}

/** The probability of `events` or more of `trials`, each with probability `rate`. */
function atLeast(events: number, trials: number, rate: number): number {
  let logWays = 0;
  let sum = 0;
  for (let count = 0; count <= trials; count++) {
    if (count > 0) logWays += Math.log((trials - count + 1) / count);
    if (count < events) continue;
    sum += Math.exp(logWays + count * Math.log(rate) + (trials - count) * Math.log1p(-rate));
  }
  return sum;
}
