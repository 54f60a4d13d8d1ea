// How often the 95 % intervals of a comparison over tasks cover the true value, with few attempts of which some
// fail. Simulated from a seed.
import type { Interval } from "@mlrb/core/statistics/mean-interval";
import { type Random, seededRandom } from "@mlrb/core/statistics/random";
import { differenceInterval, type TaskScale } from "@mlrb/core/statistics/significance/difference-interval";
import { doubledU } from "@mlrb/core/statistics/significance/rank-sum";
import { superiorityInterval } from "@mlrb/core/statistics/significance/superiority-interval";
import { markdownTable, percent } from "./coverage-simulation.ts";

const designs = [
  { tasks: 7, attempts: 3 },
  { tasks: 7, attempts: 5 },
  { tasks: 7, attempts: 10 },
  { tasks: 5, attempts: 5 },
  { tasks: 3, attempts: 5 },
];

type Draw = (random: Random) => number;

/** Both agents' values at a task, with the true difference of their means and the true P(A is better than B). */
type Population = { a: Draw; b: Draw; difference: number; superiority: number };

const near =
  (mean: number): Draw =>
  (random) =>
    mean + 0.1 * random.normal();
const failing =
  (draw: Draw): Draw =>
  (random) =>
    random.fraction() < 0.2 ? 0 : draw(random);
/** At the trivial baseline, failures tie. `gap` is at least ten standard deviations. */
const bothFail = (gap: number): Population => ({
  a: failing(near(5 + gap)),
  b: failing(near(5)),
  difference: 0.8 * gap,
  superiority: gap > 0 ? 0.82 : 0.18,
});

const populations: [string, (task: number) => Population][] = [
  ["one in five of both agents at the trivial baseline, the others near each other", () => bothFail(1.5)],
  [
    "the same, with differences between −4 and 8 at the tasks",
    (task) => bothFail([8, -4, 2, 6, -2, 4, 3][task]!),
  ],
  [
    "one in five of one agent at the trivial baseline, the others near each other",
    () => ({ a: failing(near(6.5)), b: near(5), difference: 0.2, superiority: 0.8 }),
  ],
  [
    "normal, one standard deviation apart",
    () => ({
      a: (random) => 1 + random.normal(),
      b: (random) => random.normal(),
      difference: 1,
      superiority: 0.7602499389065233,
    }),
  ],
];

/**
 * Two rows for each population, in percent; none where the design gets no interval. `datasets` for each cell,
 * `permutations` for each interval of a difference.
 */
export function overTasksTable(given: { seed: number; datasets: number; permutations: number }): string {
  const random = seededRandom(given.seed);
  const rows = populations.flatMap(([values, population]) => {
    const found = designs.map((design) => simulated(population, design, { ...given, random }));
    const differences = found.map(({ difference }) =>
      difference === undefined ? "none" : percent(difference),
    );
    return [
      [values, "difference of means", ...differences],
      [values, "P(A is better)", ...found.map(({ superiority }) => percent(superiority))],
    ];
  });
  const heads = designs.map(({ tasks, attempts }) => `${tasks} tasks, n = ${attempts}`);
  return markdownTable(["values of each agent", "interval", ...heads], rows);
}

function simulated(
  population: (task: number) => Population,
  design: (typeof designs)[number],
  { random, datasets, permutations }: { random: Random; datasets: number; permutations: number },
): { difference: number | undefined; superiority: number } {
  const truths = Array.from({ length: design.tasks }, (_, task) => population(task));
  const average = (field: "difference" | "superiority") =>
    truths.reduce((sum, each) => sum + each[field], 0) / truths.length;
  const covered = { difference: 0, superiority: 0 };
  let without = 0;
  for (let dataset = 0; dataset < datasets; dataset++) {
    const tasks = truths.map(({ a, b }, task) => ({
      task: String(task),
      a: Array.from({ length: design.attempts }, () => a(random)),
      b: Array.from({ length: design.attempts }, () => b(random)),
    }));
    const seed = dataset + 1;
    const found = differenceInterval(tasks, { seed, permutations });
    const interval = found.kind === "difference" ? found.interval : null;
    if (!interval) without++;
    if (interval && holds(interval, average("difference"))) covered.difference++;
    if (holds(superiorityOf(tasks), average("superiority"))) covered.superiority++;
  }
  return {
    difference: without === datasets ? undefined : covered.difference / datasets,
    superiority: covered.superiority / datasets,
  };
}

function superiorityOf(tasks: TaskScale[]): Interval {
  const statistic =
    tasks.reduce((sum, { a, b }) => sum + doubledU(a, b) / (2 * a.length * b.length), 0) / tasks.length;
  return superiorityInterval(
    tasks.map(({ a, b }) => ({ a: a.length, b: b.length })),
    statistic,
  )!;
}

function holds([low, high]: Interval, value: number): boolean {
  return low <= value && value <= high;
}
