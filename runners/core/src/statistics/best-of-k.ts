// What an agent gains from k attempts instead of one. The attempt is chosen by a rule that was declared before and
// never reads test scores; the best test score of a group is only an upper bound of what any rule could choose.

import { exactInterval } from "./exact-interval.ts";
import type { AttemptResult } from "./intention-to-treat.ts";
import type { Interval } from "./mean-interval.ts";
import { seededRandom } from "./random.ts";
import { latticeSum, twoSided } from "./significance/lattice-sum.ts";
import { doubledU } from "./significance/rank-sum.ts";

/**
 * The probability that at least one of k attempts succeeds: 1 − C(n − c, k) / C(n, k) of `n` attempts with `c`
 * successes, unbiased (Chen et al. 2021, arXiv 2107.03374, equation 1). Undefined for k > n. Throws on invalid counts.
 */
export function passAtK({ n, c, k }: { n: number; c: number; k: number }): number | undefined {
  const counts = [n, c, k].every(Number.isSafeInteger);
  if (!counts || c < 0 || c > n || k < 1) throw new Error(`bug: pass@${k} of ${c} successes of ${n}`);
  if (k > n) return undefined;
  let allFail = 1;
  for (let drawn = 0; drawn < k; drawn++) allFail *= Math.max(0, n - c - drawn) / (n - drawn);
  return 1 - allFail;
}

/**
 * The 95 % interval of pass@k: 1 − (1 − p)^k at both ends of Clopper and Pearson's interval of the success rate p.
 * pass@k rises with p, so it covers as often as theirs: at least 95 %, for every p, n and k. It is widened to the
 * unbiased estimate, which is no function of the estimated rate. Undefined for k > n. Throws on invalid counts.
 */
export function passAtKInterval(of: { n: number; c: number; k: number }): Interval | undefined {
  const estimate = passAtK(of);
  if (estimate === undefined) return undefined;
  const [low, high] = exactInterval(of.c, of.n).map((rate) => 1 - (1 - rate) ** of.k) as Interval;
  return [Math.min(low, estimate), Math.max(high, estimate)];
}

/** An attempt as the rule and the report know it. `dev`: its score on the public dev split, if there is one. */
export type Try = { result: AttemptResult; dev: number | undefined };

export type GroupChoice = {
  /** Indices of the attempts of the group, and of the chosen one. */
  members: number[];
  /** `none`: no member is valid. `missing`: a member failed by the harness, so k attempts are not known. */
  by: "dev" | "random" | "none" | "missing";
  chosen: number | undefined;
  /** What the group counts as: the chosen attempt, also if that one failed. */
  result: AttemptResult;
};

export type BestOfK = { groups: GroupChoice[]; leftOut: number };

/**
 * Cuts `tries`, all planned attempts of one agent at one task in order of their seeds, into groups of `k`, so that
 * results cannot decide who is in a group; a rest of fewer than k is left out. In each group the rule chooses the
 * attempt with the best `dev` value (the first of equal ones), or, if none has one, a valid attempt at random. So an
 * attempt cannot gain by having no dev value. `seed`: a whole number from 0 to 2³² − 1, of the random choices.
 */
export function bestOfK(
  tries: readonly Try[],
  { k, direction, seed }: { k: number; direction: "higher" | "lower"; seed: number },
): BestOfK {
  if (!Number.isSafeInteger(k) || k < 1) throw new Error(`bug: the best of ${k}`);
  const random = seededRandom(seed);
  const groups = Array.from({ length: Math.floor(tries.length / k) }, (_, at): GroupChoice => {
    const members = Array.from({ length: k }, (__, index) => at * k + index);
    const draw = random.fraction(); // for each group, so that one group's results do not move another's choice
    const isMissing = members.some((member) => tries[member]!.result.kind === "missing");
    if (isMissing) return { members, by: "missing", chosen: undefined, result: { kind: "missing" } };
    const scored = members.filter((member) => tries[member]!.dev !== undefined);
    const valid = members.filter((member) => tries[member]!.result.kind === "valid");
    if (scored.length > 0) {
      const sign = direction === "higher" ? 1 : -1;
      const chosen = scored.reduce((best, next) =>
        sign * tries[next]!.dev! > sign * tries[best]!.dev! ? next : best,
      );
      return { members, by: "dev", chosen, result: tries[chosen]!.result };
    }
    const chosen = valid[Math.floor(draw * valid.length)];
    if (chosen === undefined) return { members, by: "none", chosen, result: tries[members[0]!]!.result };
    return { members, by: "random", chosen, result: tries[chosen]!.result };
  });
  return { groups, leftOut: tries.length % k };
}

/** A group whose values are all known, higher ones better. */
export type ChosenAmong = { values: readonly number[]; chosen: number };

/**
 * Whether a rule chooses better attempts than chance: a randomisation test (Fisher 1935). Hypothesis: in each group
 * every attempt was as likely to be chosen. `statistic`: over all groups, the mean probability that the chosen attempt
 * is better than another one of its group, ties half. p is two-sided and exact, whatever the distribution of scores.
 * Undefined without a group of two or more.
 */
export function choiceTest(
  groups: readonly ChosenAmong[],
): { statistic: number; groups: number; p: number; pMin: number } | undefined {
  const used = groups.filter(({ values }) => values.length > 1);
  const [first] = used;
  if (!first) return undefined;
  const size = first.values.length;
  if (used.some(({ values }) => values.length !== size)) throw new Error("bug: groups of several sizes");
  /** Twice the number of other members that it is better than; 0 … 2 (size − 1). */
  const beaten = (values: readonly number[], index: number) =>
    doubledU([values[index]!], values.toSpliced(index, 1));
  const parts = used.map(({ values }) => {
    const probabilities = new Float64Array(2 * size - 1);
    for (const index of values.keys()) probabilities[beaten(values, index)]! += 1 / size;
    return { probabilities, step: 1 };
  });
  const observed = used.reduce((sum, { values, chosen }) => sum + beaten(values, chosen), 0);
  const statistic = observed / (2 * (size - 1) * used.length);
  return { statistic, groups: used.length, ...twoSided(latticeSum(parts), observed) };
}

/**
 * P(the best of k is better than a single attempt), ties half, at one task: over all groups and all attempts outside
 * of each, because a group's choice is no better than itself. Values with higher ones better; null: not measured.
 * Undefined if there is no such pair. `groups`: those that count.
 */
export function betterThanOne(
  values: readonly (number | null)[],
  groups: readonly { members: readonly number[]; value: number | null }[],
): { value: number; groups: number } | undefined {
  const shares = groups.flatMap(({ members, value }) => {
    const others = values.filter((each, at): each is number => each !== null && !members.includes(at));
    return value === null || others.length === 0 ? [] : [doubledU([value], others) / (2 * others.length)];
  });
  if (shares.length === 0) return undefined;
  return { value: shares.reduce((sum, share) => sum + share, 0) / shares.length, groups: shares.length };
}

/**
 * The performance profile (Agarwal et al. 2021, section 4.2): for each τ, the share of attempts with a normalised
 * score over τ, as the mean over tasks. It falls from 1 at each step's `above`: from there on it is `share`.
 */
export function performanceProfile(tasks: readonly (readonly number[])[]) {
  const used = tasks.filter((values) => values.length > 0);
  const steps = [...new Set(used.flat())].sort((a, b) => a - b);
  const shareOver = (least: number) => (values: readonly number[]) =>
    values.filter((value) => value > least).length / values.length;
  return steps.map((above) => ({
    above,
    share: used.map(shareOver(above)).reduce((sum, share) => sum + share, 0) / used.length,
  }));
}
