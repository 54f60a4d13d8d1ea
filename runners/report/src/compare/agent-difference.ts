// The difference of two agents over tasks in normalised score, with an interval over attempts.
import { differenceInterval } from "@mlrb/core/statistics/significance/difference-interval";
import type { AgentDifference } from "@mlrb/formats/report/agent-comparison";
import type { Cell } from "@mlrb/formats/report/cell";
import type { AgentPair } from "./agent-pair.ts";

/** Over those of `pairs`, which can be tested, that are of a task in `scaled`. */
export function agentDifference(pairs: AgentPair[], scaled: string[]): AgentDifference {
  if (scaled.length === 0)
    return { kind: "none", why: "no tasks have reference models of a common kind; see the ranks" };
  const used = pairs.filter(({ a }) => scaled.includes(a.task));
  if (used.length === 0)
    return { kind: "none", why: "no task with a common scale has attempts of both that can be tested" };
  const found = differenceInterval(
    used.map(({ a, b }) => ({ task: a.task, a: normalised(a), b: normalised(b) })),
  );
  if (found.kind === "none") return { kind: "none", why: "the values are too large" };
  return { ...found, tasks: used.map(({ a }) => a.task) };
}

function normalised(cell: Cell): number[] {
  return cell.normalised.filter((value) => value !== null);
}
