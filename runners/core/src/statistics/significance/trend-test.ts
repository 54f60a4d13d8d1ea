// Whether values rise or fall with an ordered dose, over several blocks: Jonckheere's statistic (1954) and Terpstra's
// (1952), summed over blocks, under permutations of the doses within each block. No distribution is assumed, ties
// count half, and blocks need no common scale.
import { seededRandom } from "../random.ts";
import { doubledU } from "./rank-sum.ts";

/** The values of one block by dose, the smallest dose first. */
export type DoseBlock = readonly (readonly number[])[];

export type TrendTest = {
  /** Two-sided, from 1 / (permutations + 1) to 1. */
  p: number;
  rises: boolean | null;
};

/**
 * Undefined where no permutation can change the statistic: fewer than two doses with values, or equal values only.
 * The same blocks give the same p: permutations are drawn from a fixed seed, and counted with the observed one, so
 * that the test keeps its level (Phipson and Smyth 2010).
 */
export function trendTest(blocks: readonly DoseBlock[], permutations = 9999): TrendTest | undefined {
  const known = blocks
    .map((doses) => doses.filter((values) => values.length > 0))
    .filter((doses) => doses.length > 1 && new Set(doses.flat()).size > 1);
  if (known.length === 0) return undefined;
  const observed = sumOf(known);
  const random = seededRandom(20_240_601);
  let far = 1;
  for (let draw = 0; draw < permutations; draw++) {
    const shuffled = known.map((doses) => dealt(doses, random));
    if (Math.abs(sumOf(shuffled)) >= Math.abs(observed)) far++;
  }
  return { p: far / (permutations + 1), rises: observed === 0 ? null : observed > 0 };
}

/** Over all pairs of doses, how often the larger dose has the larger value, less how often the smaller has. */
function sumOf(blocks: readonly DoseBlock[]): number {
  let sum = 0;
  for (const doses of blocks)
    for (const [at, low] of doses.entries())
      for (const high of doses.slice(at + 1)) sum += doubledU(high, low) - low.length * high.length;
  return sum;
}

/** The values in random order, as many for each dose as before (Fisher and Yates). */
function dealt(doses: DoseBlock, random: ReturnType<typeof seededRandom>): DoseBlock {
  const all = doses.flat();
  for (let last = all.length - 1; last > 0; last--) {
    const other = random.integer(last + 1);
    [all[last], all[other]] = [all[other]!, all[last]!];
  }
  return doses.map(({ length }) => all.splice(0, length));
}
