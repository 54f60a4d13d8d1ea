// The difference of two agents' means over tasks, with an interval by inverting the permutation test of labels
// within tasks. Failed attempts are values like any other, so the interval is of the intention-to-treat means.

import { assertFinite } from "../finite.ts";
import { mean, standardDeviation } from "../mean.ts";
import type { Interval } from "../mean-interval.ts";
import { type Random, seededRandom } from "../random.ts";
import { normal95, studentT95 } from "../student-t.ts";
import type { Draws } from "./permutation-test.ts";

/** Both agents' counted values at a task on a scale that the tasks share, higher being better. */
export type TaskScale = { task: string; a: readonly number[]; b: readonly number[] };

export type MeanDifference =
  /** `interval` or `withheld` is null. */
  | { kind: "difference"; value: number; interval: Interval | null; withheld: NoDifferenceInterval | null }
  | { kind: "none" };

type NoDifferenceInterval =
  /** An agent has fewer than 21 attempts over all tasks, or a single one at a task. */
  | "too-few"
  /** At every task, each agent's values are equal. */
  | "no-spread";

/** With fewer attempts of an agent, a set without any failure is too likely, and its interval too narrow. */
export const attemptsMin = 21;

/** An end of the interval is the 500th of the ordered edges, with an error of about 1 % of the half width. */
const permutationsDefault = 19_999;

/**
 * The unweighted mean over tasks of mean(a) − mean(b), and its 95 % interval: all differences δ that the two-sided
 * permutation test of labels within tasks does not reject at 0.05. Under δ, the difference at a task is its
 * observed one plus δ minus the observed mean, because tasks are fixed and differ. Values are scaled around their
 * group's mean so that the variance under permutation is s²(a) / |a| + s²(b) / |b| (Neyman 1923), times the square
 * of t / z for its degrees of freedom (Welch 1947), because it is estimated. Each labelling is then rejected from
 * one δ on, and the ends are order statistics of these (Garthwaite 1996): a single pass over labellings drawn from
 * `seed`. Coverage is simulated in docs/statistics.md. Throws on values that are not finite and on a repeated
 * task.
 */
export function differenceInterval(
  given: readonly TaskScale[],
  { seed = 1, permutations = permutationsDefault }: Draws = {},
): MeanDifference {
  const names = given.map(({ task }) => task);
  if (new Set(names).size < names.length) throw new Error(`bug: a task appears twice in ${names.join(", ")}`);
  for (const { task, a, b } of given) assertFinite([...a, ...b], `value at ${task}`);
  // sorted, so that the order of the attempts changes nothing
  const ordered = (values: readonly number[]) => values.toSorted((x, y) => x - y);
  const tasks = given.map(({ task, a, b }) => ({ task, a: ordered(a), b: ordered(b) }));
  if (tasks.some(({ a, b }) => a.length * b.length === 0)) throw new Error("bug: a task without values");
  const value = mean(tasks.map(({ a, b }) => mean(a)! - mean(b)!));
  if (value === undefined) return { kind: "none" };
  const none = (withheld: NoDifferenceInterval): MeanDifference => ({
    kind: "difference",
    value,
    interval: null,
    withheld,
  });
  for (const side of ["a", "b"] as const) {
    const attempts = tasks.reduce((sum, task) => sum + task[side].length, 0);
    if (attempts < attemptsMin || tasks.some((task) => task[side].length < 2)) return none("too-few");
  }
  const wider = studentT95(degreesOfFreedom(tasks)) / normal95;
  const pools = tasks.map((task) => residualPool(task, wider));
  if (pools.every(({ values }) => values.every((each) => each === 0))) return none("no-spread");
  const interval = invert(pools, value, { seed, permutations });
  return interval ? { kind: "difference", value, interval, withheld: null } : none("too-few");
}

/** Residuals of both groups at a task, and whether each is of `b`. */
type Pool = { values: Float64Array; ofB: Uint8Array; a: number; b: number };

/** Of the sum of the groups' s² / n, rounded down; at least 1 (Welch 1947). */
function degreesOfFreedom(tasks: readonly TaskScale[]): number {
  const parts = tasks.flatMap(({ a, b }) =>
    [a, b].map((own) => ({ variance: standardDeviation(own)! ** 2 / own.length, free: own.length - 1 })),
  );
  const sum = parts.reduce((total, { variance }) => total + variance, 0);
  const squares = parts.reduce((total, { variance, free }) => total + variance ** 2 / free, 0);
  return squares > 0 ? Math.max(1, Math.floor(sum ** 2 / squares)) : 1;
}

function residualPool({ a, b }: TaskScale, wider: number): Pool {
  const all = a.length + b.length;
  const part = (own: readonly number[], other: number) => {
    const centre = mean(own)!;
    const factor = wider * Math.sqrt(((all - 1) * other) / (all * (own.length - 1)));
    return own.map((value) => factor * (value - centre));
  };
  return {
    values: Float64Array.from([...part(a, b.length), ...part(b, a.length)]),
    ofB: Uint8Array.from({ length: all }, (_, place) => (place < a.length ? 0 : 1)),
    a: a.length,
    b: b.length,
  };
}

/**
 * The 2.5 % and 97.5 % order statistics of the differences at which a labelling ceases to be as extreme as the
 * observed one. A labelling that moves the residual difference by `shift` and the share `moved` of the labels has
 * its edge at difference − shift / moved. Undefined if too many drawn labellings are the observed one.
 */
function invert(
  pools: Pool[],
  difference: number,
  { seed, permutations }: Required<Draws>,
): Interval | undefined {
  const random = seededRandom(seed);
  const edges: number[] = [];
  for (let drawn = 0; drawn < permutations; drawn++) {
    let shift = 0;
    let moved = 0;
    for (const pool of pools) {
      const { sum, fromB } = drawLabels(pool, random);
      const perPair = 1 / pool.a + 1 / pool.b;
      shift += sum * perPair; // residuals of a group add up to zero, so b's sum is −sum
      moved += fromB * perPair;
    }
    if (moved > 0) edges.push(difference - shift / moved);
  }
  // the observed labelling, and any that equals it, is never rejected
  const rank = Math.floor(0.025 * (permutations + 1)) - (permutations - edges.length) - 1;
  if (rank < 0) return undefined;
  const ordered = Float64Array.from(edges).sort();
  return [ordered[rank]!, ordered[ordered.length - 1 - rank]!];
}

/** Draws the values that are labelled `a`, by shuffling the pool: their sum, and how many of them are of `b`. */
function drawLabels({ values, ofB, a }: Pool, random: Random): { sum: number; fromB: number } {
  let sum = 0;
  let fromB = 0;
  for (let place = 0; place < a; place++) {
    const other = place + random.integer(values.length - place);
    const value = values[other]!;
    const group = ofB[other]!;
    values[other] = values[place]!;
    ofB[other] = ofB[place]!;
    values[place] = value;
    ofB[place] = group;
    sum += value;
    fromB += group;
  }
  return { sum, fromB };
}
