// Compares two programs whose only randomness is the seed, seed by seed. Only the order in each pair counts, so
// that tasks with different metrics can be combined.
import { mean } from "@mlrb/core/statistics/mean";
import { signFlipTest } from "@mlrb/core/statistics/significance/sign-flip-test";
import type { PairedComparison } from "@mlrb/formats/report/agent-comparison";
import type { AgentPair } from "./agent-pair.ts";

/** The sign-flip test over the pairs of all tasks, every task with the same weight; or why there are none. */
export function pairedComparison(
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
