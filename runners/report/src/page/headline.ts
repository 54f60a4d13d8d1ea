// The page's first sentence: who did better on how many tasks, and whether new attempts would agree. It counts the means
// that the main table prints, and claims agreement only where the report's test and its interval both support it.

import { withoutNoise } from "@mlrb/core/statistics/mean";
import { counted } from "@mlrb/core/text/counted";
import type { Report } from "@mlrb/formats/report";
import type { AgentComparison } from "@mlrb/formats/report/agent-comparison";
import { pText } from "../sections/statistics-text.ts";
import { listText } from "./list-text.ts";

/** Level of the test over attempts, for all pairs of agents together (Bonferroni). */
const level = 0.05;

export function headline(report: Report): string {
  const practice = report.smoke ? "Practice data: " : "";
  if (report.coverage.attempts.planned === 0) return `${practice}no attempts were planned.`;
  if (report.agents.length === 1) return `${practice}${aloneText(report)}`;
  const { ranked } = report.acrossTasks;
  if (ranked.length === 0) return `${practice}no task has a usable mean of every agent, so none is ahead.`;
  const { wins, level: equal } = winsOf(report);
  const most = Math.max(...wins.values());
  const leaders = [...wins].filter(([, count]) => count === most).map(([agent]) => agent);
  const between = equal > 0 && most > 0 ? `, with equal means at ${equal}` : "";
  const missing = report.tasks.length - ranked.length;
  const without = missing > 0 ? `; ${counted(missing, "task")} cannot be compared` : "";
  const failed = report.coverage.attempts.struck + report.coverage.attempts.rejected;
  const footnote = failed > 0 ? ` (failed attempts count as the trivial baseline)` : "";
  const at = `at ${most} of ${counted(ranked.length, "task")}`;
  if (leaders.length > 1) {
    const nobody = most === 0 ? "have equal means" : `each scored best ${at}`;
    return `${practice}${listText(leaders)} ${nobody}${between}${without}${footnote}. ${tiedText(report, leaders)}`;
  }
  const leader = leaders[0]!;
  const others = report.agents.map(({ name }) => name).filter((name) => name !== leader);
  const than = others.length === 1 ? `better than ${others[0]}` : `best of ${others.length + 1} agents`;
  return `${practice}${leader} scored ${than} ${at}${between}${without}${footnote}. ${agreementText(report, leader)}`;
}

/**
 * How often each agent has the best mean, perhaps with others, over the tasks at which every agent has a usable one.
 * `level`: at how many of them all are equal.
 */
function winsOf({ acrossTasks, cells, agents }: Report): { wins: Map<string, number>; level: number } {
  const wins = new Map(agents.map(({ name }) => [name, 0]));
  let level = 0;
  for (const name of acrossTasks.ranked) {
    const own = cells.filter(({ task, primary, mean }) => task === name && primary && mean !== null);
    const good = own.map(({ mean, direction }) => withoutNoise(direction === "higher" ? mean! : -mean!));
    const best = Math.max(...good);
    if (good.every((value) => value === best)) level++;
    else
      for (const [at, { agent }] of own.entries())
        if (good[at] === best) wins.set(agent, wins.get(agent)! + 1);
  }
  return { wins, level };
}

type Agreement = { other: string; p: number | null; tasks: number; pairs: number; hasInterval?: boolean } & {
  /** mixed: the test favours the leader, and the difference of means does not, or its interval holds 0. */
  kind: "agrees" | "mixed" | "unclear" | "opposes" | "too-few";
};

/** What the test over attempts says of `leader` against another agent; `p` is adjusted for the number of pairs. */
function agreement(
  { agents, overall, difference }: AgentComparison,
  leader: string,
  pairs: number,
): Agreement {
  const isFirst = agents[0] === leader;
  const other = agents[isFirst ? 1 : 0]!;
  const of = { other, pairs };
  if (overall.kind !== "tested") return { ...of, p: null, tasks: 0, kind: "too-few" };
  const { statistic, tasks, pMin } = overall;
  const p = Math.min(1, overall.p * pairs);
  if (pMin * pairs > level) return { ...of, p: null, tasks, kind: "too-few" };
  if (p > level) return { ...of, p, tasks, kind: "unclear" };
  const ahead = isFirst ? statistic > 0.5 : statistic < 0.5;
  if (!ahead) return { ...of, p, tasks, kind: "opposes" };
  const { interval, value } = difference.kind === "difference" ? difference : { interval: null, value: null };
  const [low, high] = interval ?? [value ?? 1, value ?? -1]; // no difference opposes nothing
  const within = isFirst ? low > 0 : high < 0;
  return { ...of, p, tasks, kind: within ? "agrees" : "mixed", hasInterval: interval !== null };
}

function agreementsOf(report: Report, leader: string): Agreement[] {
  const all = report.agentComparisons;
  return all
    .filter(({ agents }) => agents.includes(leader))
    .map((comparison) => agreement(comparison, leader, all.length));
}

function agreementText(report: Report, leader: string): string {
  const found = agreementsOf(report, leader);
  const of = (kind: Agreement["kind"]) => found.filter((one) => one.kind === kind);
  const opposed = of("opposes");
  if (opposed.length > 0)
    return `The test over attempts favours ${listText(opposed.map(({ other }) => other))} (${evidence(opposed)}): who is ahead depends on how tasks are counted.`;
  const agreed = of("agrees");
  const unclear = of("unclear");
  const mixed = of("mixed");
  const open = [...mixed, ...unclear, ...of("too-few")];
  if (agreed.length > 0 && open.length > 0)
    return `New attempts would probably agree against ${names(agreed)} (${evidence(agreed)}); against ${names(open)} that is not shown.`;
  if (agreed.length > 0) return `New attempts would probably agree (${evidence(agreed)}).`;
  if (mixed.length > 0)
    return `The test over attempts favours ${leader} (${evidence(mixed)}), but ${against(mixed)}: new attempts may not agree.`;
  if (unclear.length > 0) return `Whether new attempts would agree is not shown (${evidence(unclear)}).`;
  return "There are too few attempts to tell whether new ones would agree.";
}

function against(mixed: Agreement[]): string {
  return mixed.every(({ hasInterval }) => hasInterval)
    ? "the interval of the difference of means holds 0"
    : "the difference of means over tasks does not";
}

/** Where the counts are level, the test may still favour one agent. */
function tiedText(report: Report, leaders: string[]): string {
  const favoured = leaders.filter((leader) =>
    agreementsOf(report, leader).some(
      ({ other, kind }) => (kind === "agrees" || kind === "mixed") && leaders.includes(other),
    ),
  );
  if (favoured.length === 1) return `The test over attempts favours ${favoured[0]}: see Statistics.`;
  if (favoured.length > 1) return "The test over attempts tells some of them apart: see Statistics.";
  return "The test over attempts does not tell them apart.";
}

function names(found: Agreement[]): string {
  return listText(found.map(({ other }) => other));
}

/** `p = 2.6e-4 over 5 tasks`: the largest p of these pairs. */
function evidence(found: Agreement[]): string {
  const worst = found.reduce((one, other) => ((other.p ?? 0) > (one.p ?? 0) ? other : one));
  const adjusted = worst.pairs > 1 ? `, adjusted for ${worst.pairs} pairs` : "";
  return `p ${found.length > 1 ? "at most" : "="} ${pText(worst.p ?? 1)} over ${counted(worst.tasks, "task")}${adjusted}`;
}

function aloneText({ agents, cells, tasks }: Report): string {
  const own = cells.filter(({ primary, mean, floor }) => primary && mean !== null && floor !== null);
  const above = own.filter(({ mean, floor, direction }) =>
    direction === "higher" ? mean! > floor! : mean! < floor!,
  );
  return `${agents[0]!.name} beat the trivial baseline at ${above.length} of ${counted(tasks.length, "task")}. There is no second agent to compare it with.`;
}
