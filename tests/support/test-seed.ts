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

/**
 * Why the smoke benchmark of a task does not run in this place, or false. A run of the suite draws one of both;
 * MLRB_TEST_SMOKE_IN names them.
 */
export function smokesIn(place: "docker" | "slurm"): string | false {
  const chosen = process.env.MLRB_TEST_SMOKE_IN?.split(",") ?? drawn(["docker", "slurm"], 1);
  return chosen.includes(place) ? false : `it runs with MLRB_TEST_SMOKE_IN=${chosen}`;
}
