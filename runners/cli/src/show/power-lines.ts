// What a planned comparison of agents could find, and what the first significant single task would cost: before a
// run is paid for, since "no difference was found" means little where only a huge one could be.
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { detectableSuperiority } from "@mlrb/core/statistics/significance/permutation-power";
import { counted } from "@mlrb/core/text/counted";
import { attemptFields } from "@mlrb/formats/declared/agent-preset";
import { estimateCost, withKeys } from "@mlrb/local/records/estimate-cost";
import type { Workspace } from "@mlrb/local/store/workspace";
import { attemptsOf, placeOf } from "../protocol/protocol-facts.ts";

const level = 0.05;
/** Pairs of attempts over all tasks beyond which the power takes over 0.1 s; such designs find single tasks anyway. */
const pairsMax = 1000;

/** Empty unless two agents that a seed does not determine share a task. */
export function powerLines(plan: Plan, workspace: Pick<Workspace, "attempts">): string[] {
  const attempts = attemptsOf(plan).filter((one) => isRandom(one, plan));
  const cells = Map.groupBy(attempts, (one) => JSON.stringify([placeOf(one).task, placeOf(one).agent]));
  const agents = new Set(attempts.map((one) => placeOf(one).agent));
  const tasks = [...new Set(attempts.map((one) => placeOf(one).task))].filter((task) =>
    [...agents].every((agent) => cells.has(JSON.stringify([task, agent]))),
  );
  if (agents.size < 2 || tasks.length === 0) return [];
  const byTask = tasks.map((task) => [...agents].map((agent) => cells.get(JSON.stringify([task, agent]))!));
  const compared = byTask.flat();
  // of the tasks with the most seeds; those with fewer can only help
  const counts = byTask.map((same) => Math.min(...same.map(({ length }) => length)));
  const seeds = Math.max(...counts);
  const full = counts.filter((count) => count === seeds).length;
  if (tasks.length * seeds ** 2 > pairsMax) return [];
  const pairs = (agents.size * (agents.size - 1)) / 2; // which the report corrects together
  const single = (n: number) => shift({ tasks: 1, seeds: n, alpha: level / pairs / tasks.length });
  const all = shift({ tasks: full, seeds, alpha: level / pairs });
  const first = `${counted(seeds, "seed")} × ${counted(full, "task")}: ${seenWords(all, single(seeds), full)}`;
  if (single(seeds) !== null) return [first];
  let more = seeds + 1;
  while (single(more) === null) more++;
  const added = compared.map((own) => ({ missing: Math.max(0, more - own.length), one: own[0]! }));
  const count = added.reduce((sum, { missing }) => sum + missing, 0);
  const prices = added.map(
    ({ missing, one }) => [missing, withKeys(one, estimateCost(one, workspace)).dollars] as const,
  );
  const dollars = prices.some(([missing, each]) => missing > 0 && each === null)
    ? " at an unknown cost"
    : `, +${prices.reduce((sum, [missing, each]) => sum + missing * (each ?? 0), 0).toFixed(2)} dollars`;
  const sees = `${counted(more, "seed")}: ${tasks.length === 1 ? "sees" : "a single task at"} ${sd(single(more)!)}`;
  return [first, `${sees}; +${counted(count, "attempt")}${dollars}`];
}

/** A preset's `seeded` is a parameter of the report, and in no attempt's parameters. */
function isRandom({ action, axes }: Instance, { instances }: Plan): boolean {
  const { kind } = attemptFields(action.params);
  if (!["llm", "command", "team"].includes(String(kind))) return false;
  const agent = String(axes.agent);
  return !instances.some(
    ({ stage, action: { params } }) => stage.publishes && Object(params.seeded)[agent] === true,
  );
}

/** The distance of means, in standard deviations between attempts, that is found with power 0.8; null: none is. */
function shift({ tasks, seeds, alpha }: { tasks: number; seeds: number; alpha: number }): number | null {
  const design = { tasks, attempts: { a: seeds, b: seeds }, alpha };
  const result = detectableSuperiority(design);
  return result.kind === "detectable" ? result.normalShift : null;
}

function seenWords(all: number | null, single: number | null, tasks: number): string {
  if (all === null) return "no test is possible";
  const one = single === null ? "no single task" : `a single task at ${sd(single)}`;
  return `sees ${sd(all)}${tasks === 1 ? "" : ` over all tasks, ${one}`} (power 0.8, level ${level})`;
}

function sd(distance: number): string {
  return `${distance.toFixed(1)} SD`;
}
