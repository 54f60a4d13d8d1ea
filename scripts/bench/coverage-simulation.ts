// How often a 95 % interval covers the true mean with few attempts. The choice of Student-t and Wilson over the
// bootstrap is based on these numbers. Simulated from a seed; exact for rates, whose data sets can be listed.
import { attemptsInterval } from "@mlrb/core/statistics/attempts-interval";
import type { Interval } from "@mlrb/core/statistics/mean-interval";
import { type Random, seededRandom } from "@mlrb/core/statistics/random";
import { wilsonInterval } from "@mlrb/core/statistics/wilson-interval";

/** Shares of data sets, from 0 to 1: the interval covered the mean; there was no interval (not covered). */
type Coverage = { covered: number; without: number };

type Population = { name: string; mean: number; draw: (random: Random) => number };

type IntervalOf = (values: readonly number[]) => Interval | undefined;

const attemptsSimulated = [3, 5, 10];

const populations: Population[] = [
  { name: "normal", mean: 0, draw: (random) => random.normal() },
  { name: "exponential (skewed)", mean: 1, draw: (random) => -Math.log(1 - random.fraction()) },
  {
    name: "one in five at the trivial baseline, the others near each other",
    mean: 0.8,
    draw: (random) => (random.fraction() < 0.2 ? 0 : 1 + 0.1 * random.normal()),
  },
];

const rates = [0.5, 0.8, 0.95];

/**
 * Rows for values and for rates, in percent; brackets have the share without an interval. `datasets` for each
 * population and number, `resamples` for each bootstrap.
 */
export function coverageTable(given: { seed: number; datasets: number; resamples: number }): string {
  const random = seededRandom(given.seed);
  const intervals: [string, IntervalOf][] = [
    ["Student-t", studentT],
    ["percentile bootstrap", (values) => percentileBootstrap(values, given.resamples, random)],
  ];
  const ofRates: [string, IntervalOf][] = [
    ["Wilson", (values) => wilsonInterval(values.filter((value) => value === 1).length, values.length)],
    ["Student-t of 0 and 1", studentT],
  ];
  const coverageRow = (values: string, interval: string, covers: (attempts: number) => Coverage) => [
    values,
    interval,
    ...attemptsSimulated.map((attempts) => {
      const { covered, without } = covers(attempts);
      return without < 0.0005 ? percent(covered) : `${percent(covered)} (${percent(without)} none)`;
    }),
  ];
  return markdownTable(
    ["values", "interval", ...attemptsSimulated.map((attempts) => `n = ${attempts}`)],
    [
      ...populations.flatMap((population) =>
        intervals.map(([interval, of]) =>
          coverageRow(population.name, interval, (attempts) =>
            simulated(population, of, { attempts, random, datasets: given.datasets }),
          ),
        ),
      ),
      ...rates.flatMap((rate) =>
        ofRates.map(([interval, of]) =>
          coverageRow(`yes or no, ${100 * rate} % yes`, interval, (attempts) =>
            exactOfRate(rate, of, attempts),
          ),
        ),
      ),
    ],
  );
}

/** The first two columns are words, the others numbers. */
export function markdownTable(head: string[], rows: string[][]): string {
  const aligned = head.map((_, at) => (at < 2 ? "---" : "--:"));
  return [head, aligned, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export function percent(share: number): string {
  return (100 * share).toFixed(1);
}

function simulated(
  { mean, draw }: Population,
  of: IntervalOf,
  { attempts, random, datasets }: { attempts: number; random: Random; datasets: number },
): Coverage {
  let covered = 0;
  let without = 0;
  for (let dataset = 0; dataset < datasets; dataset++) {
    const interval = of(Array.from({ length: attempts }, () => draw(random)));
    if (!interval) without++;
    else if (interval[0] <= mean && mean <= interval[1]) covered++;
  }
  return { covered: covered / datasets, without: without / datasets };
}

/** Sums over all numbers of successes, weighted by binomial probability. */
function exactOfRate(rate: number, of: IntervalOf, attempts: number): Coverage {
  const coverage = { covered: 0, without: 0 };
  let probability = (1 - rate) ** attempts;
  for (let successes = 0; successes <= attempts; successes++) {
    const interval = of(Array.from({ length: attempts }, (_, index) => (index < successes ? 1 : 0)));
    if (!interval) coverage.without += probability;
    else if (interval[0] <= rate && rate <= interval[1]) coverage.covered += probability;
    probability *= ((attempts - successes) / (successes + 1)) * (rate / (1 - rate));
  }
  return coverage;
}

function studentT(values: readonly number[]): Interval | undefined {
  const interval = attemptsInterval(values);
  return interval.kind === "interval" ? [interval.low, interval.high] : undefined;
}

/** The 2.5 % and 97.5 % order statistics of the means of `resamples` draws with replacement. */
function percentileBootstrap(values: readonly number[], resamples: number, random: Random): Interval {
  const means = new Float64Array(resamples);
  for (let resample = 0; resample < resamples; resample++) {
    let sum = 0;
    for (let draw = 0; draw < values.length; draw++) sum += values[random.integer(values.length)]!;
    means[resample] = sum / values.length;
  }
  means.sort();
  const outside = Math.floor(0.025 * (resamples + 1));
  return [means[outside - 1]!, means[resamples - outside]!];
}
