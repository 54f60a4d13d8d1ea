// The seed of everything that tests draw at random. The suite draws one, prints it and gives it to every file, so
// that `MLRB_TEST_SEED=N pnpm test FILE` repeats what a failed file drew.
import { randomInt } from "node:crypto";
import { type Random, seededRandom } from "@mlrb/core/statistics/random";

/** A whole number from 0 to 2³¹ − 1. */
export const testSeed = Number(process.env.MLRB_TEST_SEED ?? randomInt(2 ** 31));

/** `count` different elements, at random. */
export function drawn<T>(from: readonly T[], count: number, random: Random = seededRandom(testSeed)): T[] {
  const left = [...from];
  return Array.from({ length: count }, () => left.splice(random.integer(left.length), 1)[0]!);
}
