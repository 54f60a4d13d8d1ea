// Which of two agents is better over all tasks. The unit is the attempt; too few attempts are reported as such,
// without a p. comparisons.ts compares the items of single submissions.
import { type PermutationTest, permutationTest } from "@mlrb/core/statistics/significance/permutation-test";
import { superiorityInterval } from "@mlrb/core/statistics/significance/superiority-interval";
import { taskTests } from "@mlrb/core/statistics/significance/task-tests";
import type { AgentComparison, TaskComparison } from "@mlrb/formats/report/agent-comparison";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { agentDifference } from "./agent-difference.ts";
import type { AgentPair, Side } from "./agent-pair.ts";
import { comparisonDesign } from "./comparison-design.ts";
import { untestableReasons } from "./left-out-reasons.ts";
import { pairedComparison } from "./paired-comparison.ts";

type Compared = {
  /** Whether the seed is the agent's only randomness, so that two of them with one seed are a pair. */
  seeded: (agent: string) => boolean;
  /** Tasks whose normalised scores may be averaged. */
  scaled: string[];
};

/**
 * A comparison for every pair of `agents` on the primary metrics among `cells`, which are of `attempts`. The tests
 * of single tasks are adjusted over the tasks of all pairs.
 */
export function agentComparisons(
  cells: Cell[],
  { agents, attempts, ...from }: { agents: string[]; attempts: Attempt[] } & Compared,
): AgentComparison[] {
  const primary = cells
    .filter((cell) => cell.primary)
    .map((cell): Side => {
      const own = attempts.filter(({ task, agent }) => task === cell.task && agent === cell.agent);
      return { ...cell, attempts: own };
    });
  const all = agents.flatMap((first, index) =>
    agents.slice(index + 1).map((second) => compare(primary, { agents: [first, second], ...from })),
  );
  const held = taskTests(all.flatMap(({ tasks }) => tasks));
  let next = 0;
  return all.map((each) => ({
    ...each,
    tasks: each.tasks.map(({ kind: _, p: __, ...of }): TaskComparison => {
      const found = held[next++]!;
      return found.kind === "tested" ? { ...of, kind: "tested", p: found.p } : { ...of, kind: "too-few" };
    }),
  }));
}

function compare(
  primary: Side[],
  { agents, seeded, scaled }: { agents: [string, string] } & Compared,
): Omit<AgentComparison, "tasks"> & { tasks: TaskResult[] } {
  const [first, second] = agents;
  const tasks = [...new Set(primary.map(({ task }) => task))];
  const planned: AgentPair[] = [];
  const usable: AgentPair[] = [];
  const leftOut: AgentComparison["leftOut"] = [];
  for (const task of tasks) {
    const of = (agent: string) => primary.find((cell) => cell.task === task && cell.agent === agent);
    const [a, b] = [of(first), of(second)];
    if (!a && !b) continue;
    if (!a || !b) {
      leftOut.push({ task, why: `not planned for ${a ? second : first}` });
      continue;
    }
    planned.push({ a, b });
    const whys = [a, b].flatMap(untestableReasons);
    if (whys.length > 0) leftOut.push({ task, why: whys.join("; ") });
    else usable.push({ a, b });
  }
  const test = permutationTest(
    usable.map(({ a, b }) => ({
      task: a.task,
      direction: a.direction,
      a: known(a.counted),
      b: known(b.counted),
    })),
  );
  return {
    agents,
    leftOut,
    difference: agentDifference(usable, scaled),
    overall: overall(test),
    tasks: test.kind === "tested" ? taskResults(test, usable) : [],
    pairs: pairedComparison(usable, { agents, seeded }),
    design: comparisonDesign(planned),
  };
}

function overall(test: PermutationTest): AgentComparison["overall"] {
  if (test.kind === "untestable") return { kind: "untestable" };
  const { statistic, p, pMin, method, tasks } = test;
  const interval = superiorityInterval(
    tasks.map(({ attempts }) => attempts),
    statistic,
  )!;
  return { kind: "tested", statistic, interval, tasks: tasks.length, p, pMin, method };
}

/** Before Holm. */
type TaskResult = Extract<TaskComparison, { kind: "tested" }>;

function taskResults(
  { tasks }: Extract<PermutationTest, { kind: "tested" }>,
  usable: AgentPair[],
): TaskResult[] {
  return tasks.map(({ task, attempts, superiority, p, pMin }) => ({
    kind: "tested",
    task,
    metric: usable.find(({ a }) => a.task === task)!.a.metric,
    attempts: [attempts.a, attempts.b],
    superiority,
    interval: superiorityInterval([attempts], superiority)!,
    p,
    pMin,
  }));
}

function known(values: (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}
