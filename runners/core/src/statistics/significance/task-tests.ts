// On which tasks an agent is better than another, once it is asked of all tasks at a time. With few attempts
// no result whatever could say so; that is told in place of a p that looks like one.
import { attainable, holm } from "./holm.ts";
import type { TaskTest } from "./permutation-test.ts";

export type HeldTaskTest = { task: string; superiority: number } & (
  | {
      kind: "tested";
      /** Adjusted by Holm over all tasks that stand here. */
      p: number;
    }
  /** Even these values in the most extreme order would not pass. */
  | { kind: "too-few"; pMin: number }
);

/**
 * The tests of single tasks, in the order given, adjusted by Holm over all of them, also those that could not
 * pass at `alpha`: 5 against 5 attempts have no p under 2 / 252 = 0.0079, and of seven tasks the first must
 * be under 0.05 / 7 = 0.0071. Ties, above all at the floor, raise the smallest p further.
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
