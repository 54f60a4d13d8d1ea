// What a comparison of this size can find at all, told beside its result: "no difference was found" means
// little where only a huge one could have been.
import { detectableSuperiority } from "@mlrb/core/statistics/significance/permutation-power";
import type { ComparisonDesign, Detectable } from "@mlrb/formats/report/agent-comparison";
import type { Duel } from "./duel.ts";

const alpha = 0.05;
/** Pairs of attempts over all tasks beyond which the power takes seconds: seven tasks of 37 against 37. */
const pairsMax = 10_000;

/** The design of what was planned; null where the agents share no task. */
export function comparisonDesign(duels: Duel[]): ComparisonDesign {
  if (duels.length === 0) return null;
  const tasks = duels.length;
  const fewest = (side: "a" | "b") => Math.min(...duels.map((duel) => duel[side].planned));
  const attempts: [number, number] = [fewest("a"), fewest("b")];
  return {
    tasks,
    attempts,
    together: detectable({ tasks, attempts, level: alpha }),
    first: detectable({ tasks: 1, attempts, level: alpha / tasks }),
  };
}

/** The same design comes with every pair of agents and takes milliseconds. */
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
