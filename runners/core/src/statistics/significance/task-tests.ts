// Tests of single tasks, corrected for their number. With few attempts no result can be significant; then the
// result says so instead of giving a p.
import { attainable, holm } from "./holm.ts";
import type { TaskTest } from "./permutation-test.ts";

export type HeldTaskTest = { task: string; superiority: number } & (
  | {
      kind: "tested";
      /** Adjusted by Holm over all tasks given. */
      p: number;
    }
  /** Even the most extreme order of these values is not significant. */
  | { kind: "too-few"; pMin: number }
);

/**
 * The tests of single tasks, in the given order, adjusted by Holm over all of them, also those that cannot reach `alpha`: 5
 * against 5 attempts have no p under 2 / 252 = 0.0079, and the first of seven tasks must be under 0.05 / 7 = 0.0071. Ties,
 * mostly at the trivial baseline, raise the smallest p further.
 */
export function taskTests(
  tests: readonly Pick<TaskTest, "task" | "superiority" | "p" | "pMin">[],
  alpha = 0.05,
): HeldTaskTest[] {
  const adjusted = holm(tests.map(({ p }) => p));
  const could = attainable(
    tests.map(({ pMin }) => pMin),
    alpha,
  );
  return tests.map(({ task, superiority, pMin }, index) =>
    could[index]
      ? { task, superiority, kind: "tested", p: adjusted[index]! }
      : { task, superiority, kind: "too-few", pMin },
  );
}

/** The fewest attempts of each agent with which one of `tests` tests can be significant under Holm, without ties. */
export function attemptsNeeded(tests: number, alpha = 0.05): number {
  let labellings = 2;
  let each = 1;
  for (; (2 * tests) / labellings > alpha; each++) labellings *= (4 * each + 2) / (each + 1);
  return each;
}
