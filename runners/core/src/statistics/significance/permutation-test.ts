// The primary test: whether one agent is better than another over the tasks of the benchmark. Under its null
// hypothesis the agents' labels can be swapped within every task. Attempts of different agents with equal seeds
// are not pairs, tasks are fixed, and only the order of values counts, never their scale.

import { assertFinite } from "../finite.ts";
import { type DrawnP, drawnTest, permutationsDefault } from "./drawn-test.ts";
import { latticeSum, latticeSumCost, twoSided } from "./lattice-sum.ts";
import { doubledU, rankSumCost, rankSumDistribution } from "./rank-sum.ts";

/** Both agents' counted values at a task (intention to treat), in any order, without missing ones. */
export type TaskValues = {
  task: string;
  direction: "higher" | "lower";
  a: readonly number[];
  b: readonly number[];
};

export type Tested = {
  /** Two-sided: the share of random label swaps that leave the agents at least as far apart. */
  p: number;
  /** The smallest p that these values can give under any labels (if drawn: with this many draws). */
  pMin: number;
  method: { kind: "exact" } | DrawnP["method"];
};

export type TaskTest = Tested & {
  task: string;
  attempts: { a: number; b: number };
  /** P(A is better than B) over all pairs of attempts, ties half. */
  superiority: number;
};

export type PermutationTest =
  | (Tested & {
      kind: "tested";
      /** The mean over tasks of P(A is better than B): 0.5 is no difference. */
      statistic: number;
      /** Each task alone, not corrected for the number of tasks: see taskTests. */
      tasks: TaskTest[];
      /** Tasks that are left out, since an agent has no value. */
      without: string[];
    })
  | { kind: "untestable"; without: string[] };

export type Draws = {
  /** Whole number from 0 to 2³² − 1. */
  seed?: number;
  permutations?: number;
};

/** Beyond this many additions (about a second), or this rare an end, permutations are drawn. */
const exactCostMax = 5e8;
const exactProbabilityMin = 1e-300;

/**
 * The permutation test of labels within tasks (Fisher 1935), whose statistic is the unweighted mean over tasks of
 * Mann and Whitney's U as a share (1947). Exact by counting, also with ties: seven tasks of 20 against 20 take
 * some 50 ms. With so many attempts, or numbers so different between tasks, that counting takes seconds,
 * permutations are drawn, see drawnTest. Swapping a and b gives the same p and 1 − statistic. Throws on values
 * that are not finite and on a repeated task.
 */
export function permutationTest(
  tasks: readonly TaskValues[],
  { seed = 1, permutations = permutationsDefault }: Draws = {},
): PermutationTest {
  const names = tasks.map(({ task }) => task);
  if (new Set(names).size < names.length) throw new Error(`bug: a task appears twice in ${names.join(", ")}`);
  for (const { task, a, b } of tasks) assertFinite([...a, ...b], `value at ${task}`);
  const without = tasks.flatMap(({ task, a, b }) => (a.length * b.length === 0 ? [task] : []));
  const used = tasks.filter(({ a, b }) => a.length * b.length > 0).map(sides);
  if (used.length === 0) return { kind: "untestable", without };
  const { superiority: statistic, ...tested } = test(used, { seed, permutations });
  return {
    kind: "tested",
    statistic,
    ...tested,
    tasks: used.map((each) => ({
      task: each.task,
      attempts: { a: each.a.length, b: each.b.length },
      ...test([each], { seed, permutations }),
    })),
    without,
  };
}

/** The values with higher ones better. */
function sides({ task, direction, ...values }: TaskValues) {
  const sign = direction === "higher" ? 1 : -1;
  const a = values.a.map((value) => sign * value);
  const b = values.b.map((value) => sign * value);
  const countable = rankSumCost(a.length, b.length) <= exactCostMax;
  /** Of doubledU under swapped labels; undefined where that is too many to count. */
  const probabilities = countable ? rankSumDistribution(a, b) : undefined;
  return { task, a, b, probabilities };
}

function test(
  tasks: readonly ReturnType<typeof sides>[],
  draws: Required<Draws>,
): Tested & { superiority: number } {
  const most = tasks.map(({ a, b }) => 2 * a.length * b.length);
  const unit = most.reduce(leastCommonMultiple, 1);
  const steps = most.map((each) => unit / each);
  const parts = tasks.flatMap(({ probabilities }, index) =>
    probabilities ? [{ probabilities, step: steps[index]! }] : [],
  );
  const rarest = parts.reduce(
    (product, { probabilities }) => product * Math.min(...probabilities.filter((each) => each > 0)),
    1,
  );
  const countable = parts.length === tasks.length && latticeSumCost(parts) <= exactCostMax;
  if (!countable || rarest < exactProbabilityMin) return drawnTest(tasks, draws);
  const observed = tasks.reduce((sum, { a, b }, index) => sum + doubledU(a, b) * steps[index]!, 0);
  return {
    superiority: observed / (unit * tasks.length),
    ...twoSided(latticeSum(parts), observed),
    method: { kind: "exact" },
  };
}

/** Infinity where it is too large to be counted with. */
function leastCommonMultiple(a: number, b: number): number {
  if (!Number.isFinite(a)) return a;
  let [divisor, rest] = [a, b];
  while (rest > 0) [divisor, rest] = [rest, divisor % rest];
  const multiple = (a / divisor) * b;
  return multiple <= Number.MAX_SAFE_INTEGER ? multiple : Number.POSITIVE_INFINITY;
}
