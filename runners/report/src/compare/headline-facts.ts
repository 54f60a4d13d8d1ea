// What the first lines of a report rest on: the tests of all pairs of agents, and who has the best means.
import { withoutNoise } from "@mlrb/core/statistics/mean";
import { holm } from "@mlrb/core/statistics/significance/holm";
import type { Report } from "@mlrb/formats/report";
import type { AgentComparison } from "@mlrb/formats/report/agent-comparison";
import type { Cell } from "@mlrb/formats/report/cell";

export const level = 0.05;

/** The primary test of a pair, adjusted by Holm over all tested pairs. */
export type PairTest = {
  agents: [string, string];
  p: number;
  /** The smallest p that these values allow. */
  pMin: number;
  /** The agent whose attempts are better more often; undefined if neither's are. */
  favours: string | undefined;
};

export function pairTests(comparisons: readonly AgentComparison[]): PairTest[] {
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

export type Observed = {
  /** At how many tasks each agent has the best mean, perhaps with others; most first, without those that never do. */
  wins: { agent: string; count: number }[];
  /** Tasks at which all means are equal. */
  equal: string[];
  /** Cells of tasks where every attempt counts as the trivial baseline, so that equal means do not say equal scores. */
  atFloor: Cell[][];
};

/** Over the tasks at which every agent has a usable mean. `demoted`: with its undecided attempts at the baseline. */
export function observed(report: Report, demoted?: string): Observed {
  const counts = new Map<string, number>();
  const found: Pick<Observed, "equal" | "atFloor"> = { equal: [], atFloor: [] };
  for (const task of report.acrossTasks.ranked) {
    const cells = report.cells.filter((cell) => cell.task === task && cell.primary);
    const good = cells.map((cell) => {
      const mean = cell.agent === demoted ? undecidedAsFloor(report, cell) : cell.mean;
      return mean === null ? -Infinity : withoutNoise(cell.direction === "higher" ? mean : -mean);
    });
    const best = Math.max(...good);
    if (good.some((value) => value !== best)) {
      for (const [at, { agent }] of cells.entries())
        if (good[at] === best) counts.set(agent, (counts.get(agent) ?? 0) + 1);
    } else if (cells.every(({ counted, floor }) => counted.every((one) => one === null || one === floor)))
      found.atFloor.push(cells);
    else found.equal.push(task);
  }
  const wins = [...counts].map(([agent, count]) => ({ agent, count })).sort((a, b) => b.count - a.count);
  return { ...found, wins };
}

function undecidedAsFloor({ sensitivity }: Report, cell: Cell): number | null {
  const of = sensitivity.find(
    ({ task, agent, variant }) =>
      task === cell.task && agent === cell.agent && variant === "undecided-as-floor",
  );
  return of ? of.mean : cell.mean;
}

export function leadersOf({ wins }: Observed): string[] {
  return wins.filter(({ count }) => count === wins[0]!.count).map(({ agent }) => agent);
}
