// Which of two agents is better over all tasks. The unit is the attempt; too few attempts are reported as such,
// without a p. Programs whose only randomness is the seed are also compared seed by seed: only the order in each pair
// counts, so that tasks with different metrics can be combined. comparisons.ts compares the items of single
// submissions.
import { mean } from "@mlrb/core/statistics/mean";
import { differenceInterval } from "@mlrb/core/statistics/significance/difference-interval";
import { detectableSuperiority } from "@mlrb/core/statistics/significance/permutation-power";
import { type PermutationTest, permutationTest } from "@mlrb/core/statistics/significance/permutation-test";
import { signFlipTest } from "@mlrb/core/statistics/significance/sign-flip-test";
import { superiorityInterval } from "@mlrb/core/statistics/significance/superiority-interval";
import { taskTests } from "@mlrb/core/statistics/significance/task-tests";
import type {
  AgentComparison,
  AgentDifference,
  ComparisonDesign,
  Detectable,
  PairedComparison,
  TaskComparison,
} from "@mlrb/formats/report/agent-comparison";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { untestableReasons } from "./left-out-reasons.ts";

/** The cells of two agents at one task on the primary metric, with their attempts in the order of the cells. */
type AgentPair = { a: Side; b: Side };
type Side = Cell & { attempts: Attempt[] };

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

/** Over those of `pairs`, which can be tested, that are of a task in `scaled`. */
function agentDifference(pairs: AgentPair[], scaled: string[]): AgentDifference {
  if (scaled.length === 0)
    return { kind: "none", why: "no tasks have reference models of a common kind; see the ranks" };
  const used = pairs.filter(({ a }) => scaled.includes(a.task));
  if (used.length === 0)
    return { kind: "none", why: "no task with a common scale has attempts of both that can be tested" };
  const found = differenceInterval(
    used.map(({ a, b }) => ({ task: a.task, a: known(a.normalised), b: known(b.normalised) })),
  );
  if (found.kind === "none") return { kind: "none", why: "the values are too large" };
  return { ...found, tasks: used.map(({ a }) => a.task) };
}

/** The sign-flip test over the pairs of all tasks, every task with the same weight; or why there are none. */
function pairedComparison(
  taskPairs: AgentPair[],
  { agents, seeded }: { agents: [string, string]; seeded: (agent: string) => boolean },
): PairedComparison {
  const free = agents.filter((agent) => !seeded(agent));
  if (free.length > 0) {
    const are = free.length === 1 ? "is" : "are";
    return { kind: "not-paired", why: `${free.join(" and ")} ${are} not declared \`seeded\`` };
  }
  const byTask = taskPairs.map(signs).filter((each) => each.length > 0);
  // Within a task each pair has one weight, which all its signs share: flipping them is fair.
  const test = signFlipTest(byTask.flatMap((each) => each.map((sign) => sign / each.length)));
  const advantage = mean(byTask.map((each) => mean(each)!));
  if (!test || advantage === undefined) return { kind: "not-paired", why: "no seed was measured for both" };
  const pairs = byTask.reduce((sum, each) => sum + each.length, 0);
  return { kind: "tested", statistic: (1 + advantage) / 2, pairs, tasks: byTask.length, ...test };
}

/** 1 where the first agent's attempt is better, -1 where the second's is, 0 where they are equal. */
function signs({ a, b }: AgentPair): number[] {
  return a.seeds.flatMap((seed, index) => {
    const other = b.seeds.indexOf(seed);
    const [x, y] = [a.counted[index] ?? null, other < 0 ? null : (b.counted[other] ?? null)];
    if (x === null || y === null) return [];
    return [Math.sign(a.direction === "higher" ? x - y : y - x)];
  });
}

// "No difference was found" means little where only a huge one could be: the report shows the smallest one that a
// comparison of this size can detect.
const alpha = 0.05;
/** Pairs of attempts over all tasks beyond which the power takes seconds: seven tasks of 37 against 37. */
const pairsMax = 10_000;

/** The planned design at the tasks with the most attempts; null where the agents share no task. */
function comparisonDesign(planned: AgentPair[]): ComparisonDesign {
  if (planned.length === 0) return null;
  const counts = planned.map(({ a, b }): [number, number] => [a.planned, b.planned]);
  const attempts = counts.reduce((most, each) => (each[0] * each[1] > most[0] * most[1] ? each : most));
  const tasks = counts.filter((each) => each.join() === attempts.join()).length;
  return {
    tasks,
    attempts,
    together: detectable({ tasks, attempts, level: alpha }),
    first: detectable({ tasks: 1, attempts, level: alpha / planned.length }),
  };
}

/** Most pairs of agents have the same design, and computing it takes milliseconds. */
const remembered = new Map<string, Detectable>();

function detectable(design: { tasks: number; attempts: [number, number]; level: number }): Detectable {
  const { tasks, attempts, level } = design;
  const [a, b] = attempts;
  if (tasks * a * b > pairsMax) return { kind: "too-large-to-compute" };
  const key = JSON.stringify(design);
  const found = remembered.get(key) ?? detectableSuperiority({ tasks, attempts: { a, b }, alpha: level });
  remembered.set(key, found);
  return found;
}
