// What the first lines of a report rest on: the tests of all pairs of agents, and who has the best means.
import { mean, withoutNoise } from "@mlrb/core/statistics/mean";
import { holm } from "@mlrb/core/statistics/significance/holm";
import type { Report } from "@mlrb/formats/report";
import type { AgentComparison } from "@mlrb/formats/report/agent-comparison";
import type { Cell } from "@mlrb/formats/report/cell";

export const level = 0.05;

export type PairTest = ReturnType<typeof pairTests>[number];

/**
 * The primary tests of pairs that have one, with p and the smallest p that the values allow adjusted by Holm over
 * all of them. `favours`: the agent whose attempts are better more often; undefined if neither's are.
 */
export function pairTests(comparisons: readonly AgentComparison[]) {
  const tested = comparisons.flatMap(({ agents, overall }) =>
    overall.kind === "tested" ? [{ agents, overall }] : [],
  );
  const p = holm(tested.map(({ overall }) => overall.p));
  const pMin = holm(tested.map(({ overall }) => overall.pMin));
  return tested.map(({ agents, overall }, at) => {
    const way = Math.sign(withoutNoise(overall.statistic) - 0.5);
    return { agents, p: p[at]!, pMin: pMin[at]!, favours: way === 0 ? undefined : agents[way > 0 ? 0 : 1] };
  });
}

export type Observed = ReturnType<typeof observed>;

/**
 * Over the tasks at which every agent has a usable mean. `demoted`: with its undecided attempts at the baseline.
 * `wins`: at how many each agent has the best mean, perhaps with others; most first, without those that never do.
 * `equal`: where all means are. `atBaseline`: cells of tasks where every attempt counts as the trivial baseline,
 * so that scores may differ.
 */
export function observed(report: Report, demoted?: string) {
  const counts = new Map<string, number>();
  const equal: string[] = [];
  const atBaseline: Cell[][] = [];
  for (const task of report.acrossTasks.ranked) {
    const cells = report.cells.filter((cell) => cell.task === task && cell.primary);
    const good = cells.map((cell) => {
      const value = cell.agent === demoted ? undecidedAsBaseline(report, cell) : cell.mean;
      return value === null ? -Infinity : withoutNoise(cell.direction === "higher" ? value : -value);
    });
    const best = Math.max(...good);
    if (good.some((value) => value !== best)) {
      for (const [at, { agent }] of cells.entries())
        if (good[at] === best) counts.set(agent, (counts.get(agent) ?? 0) + 1);
    } else if (
      cells.every(({ counted, baseline }) => counted.every((one) => one === null || one === baseline))
    )
      atBaseline.push(cells);
    else equal.push(task);
  }
  const wins = [...counts].map(([agent, count]) => ({ agent, count })).sort((a, b) => b.count - a.count);
  return { wins, equal, atBaseline };
}

function undecidedAsBaseline({ sensitivity }: Report, cell: Cell): number | null {
  const of = sensitivity.find(
    ({ task, agent, variant }) =>
      task === cell.task && agent === cell.agent && variant === "undecided-as-baseline",
  );
  return of ? of.mean : cell.mean;
}

/** How much lower the agent's normalised mean over `tasks` is with its undecided attempts at the baseline. */
export function undecidedLoss(report: Report, agent: string, tasks: readonly string[]): number {
  const own = report.cells.filter(
    (cell) => cell.primary && cell.agent === agent && tasks.includes(cell.task),
  );
  const losses = own.map((cell) => {
    const { baseline, reference } = cell;
    return (cell.mean! - undecidedAsBaseline(report, cell)!) / (reference! - baseline!);
  });
  return mean(losses) ?? 0;
}

export function leadersOf({ wins }: Observed): string[] {
  return wins.filter(({ count }) => count === wins[0]!.count).map(({ agent }) => agent);
}
