// The data of the cost figures: what an agent's attempt spends on average against its normalised mean, over tasks
// and at each.
// An agent is on the Pareto line where no other one has a higher score for at most the same cost. Pure.
import { mean } from "@mlrb/core/statistics/mean";
import type { Report } from "@mlrb/formats/report";
import type { Times } from "@mlrb/formats/times";
import { spentAt } from "../../paper/costs.ts";

type Timed = Times["attempts"][number];

const amounts = [
  { name: "dollars", of: ({ dollars }: Timed) => dollars },
  { name: "GPU hours", of: ({ gpuHours }: Timed) => gpuHours },
  { name: "minutes", of: ({ wallSeconds }: Timed) => (wallSeconds === null ? null : wallSeconds / 60) },
] as const;

export type CostData = ReturnType<typeof costData>[number];
export type CostPoint = { agent: string; spent: number | null; score: number };
export type TaskPoint = CostPoint & { task: string; spent: number };

/**
 * One entry for each amount that is known and above 0 for any attempt. `agents`: those with a mean over all
 * compared tasks; `spent` is null where the amount is unknown for any of their attempts. `pareto`: cheapest first.
 * `tasks`: means of single tasks, of every agent for which they are known.
 */
export function costData(report: Report, times: Times) {
  // means over other tasks cannot be compared
  const every = report.acrossTasks.tasks.length;
  const shown = report.acrossTasks.agents.filter(
    ({ mean, tasks }) => mean !== null && tasks.length === every,
  );
  return amounts.flatMap(({ name, of }) => {
    if (!times.attempts.some((one) => (of(one) ?? 0) > 0)) return [];
    const spentBy = (agent: string, task: string) => {
      const { mean: spent, known, of: own } = spentAt(times, { agent, task }, of);
      return known < own ? null : spent;
    };
    const agents = shown.map((each): CostPoint => {
      const spent = each.tasks.map((task) => spentBy(each.agent, task));
      const known = spent.filter((value) => value !== null);
      return {
        agent: each.agent,
        spent: known.length < spent.length ? null : (mean(known) ?? null),
        score: each.mean!,
      };
    });
    const tasks = report.cells.flatMap(({ agent, task, primary, normalisedMean: score }): TaskPoint[] => {
      const spent = spentBy(agent, task);
      return primary && spent !== null && score !== null ? [{ agent, task, spent, score }] : [];
    });
    return [{ amount: name, agents, pareto: paretoOf(agents), tasks }];
  });
}

/** The agents that no other one beats in both, cheapest first. Unknown costs are never on the line. */
export function paretoOf(agents: CostPoint[]): CostPoint[] {
  const known = agents.filter((one): one is CostPoint & { spent: number } => one.spent !== null);
  let best: { score: number; spent: number } | undefined;
  return [...known]
    .sort((a, b) => a.spent - b.spent || b.score - a.score)
    .filter(({ score, spent }) => {
      const isTwin = score === best?.score && spent === best.spent;
      if (best !== undefined && score <= best.score && !isTwin) return false;
      best = { score, spent };
      return true;
    });
}

/** The figure in words, for readers who do not see it. */
export function costWords({ amount, agents, pareto }: CostData): string {
  const points = agents.map(
    ({ agent, spent, score }) => `${agent}: normalised mean ${score.toFixed(2)}, ${spentText(amount, spent)}`,
  );
  return `Normalised mean over tasks against ${amount} of one attempt. ${points.join("; ")}. On the Pareto line: ${pareto.map(({ agent }) => agent).join(", ") || "none"}`;
}

export function spentText(amount: string, spent: number | null): string {
  return spent === null ? `${amount} unknown` : `${Number(spent.toPrecision(2))} ${amount}`;
}
