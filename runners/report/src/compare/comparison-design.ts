// The smallest difference that a comparison of this size can detect. The report shows it with the result, because
// "no difference was found" means little where only a huge one could be.
import { detectableSuperiority } from "@mlrb/core/statistics/significance/permutation-power";
import type { ComparisonDesign, Detectable } from "@mlrb/formats/report/agent-comparison";
import type { AgentPair } from "./agent-pair.ts";

const alpha = 0.05;
/** Pairs of attempts over all tasks beyond which the power takes seconds: seven tasks of 37 against 37. */
const pairsMax = 10_000;

/** The planned design at the tasks with the most attempts; null where the agents share no task. */
export function comparisonDesign(planned: AgentPair[]): ComparisonDesign {
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
