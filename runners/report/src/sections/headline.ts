// The first lines of a report, the same on the page, in report.md, on the terminal and in report.tex: what was
// observed, what the test over all tasks shows, and which single tasks differ. At most 5 % of reports name a pair
// of agents or a task without a difference: pairs are named by Holm's method over all pairs, and tasks only if
// every pair differs.

import { mean } from "@mlrb/core/statistics/mean";
import { attemptsNeeded } from "@mlrb/core/statistics/significance/task-tests";
import { counted } from "@mlrb/core/text/counted";
import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { counting } from "../compare/counting.ts";
import { peopleMin, withoutFewPeople } from "../compare/few-people.ts";
import { leadersOf, level, type Observed, observed, pairTests } from "../compare/headline-facts.ts";
import { ofWholeTasks } from "../compare/ladder.ts";
import { leftOutReasons } from "../compare/left-out-reasons.ts";
import { differenceRows } from "../page/charts/ranked-data.ts";
import { plainText } from "../read/plain-text.ts";
import { storedMetric } from "../units/shown-metric.ts";
import { pText, sentenceNumber } from "./digits-text.ts";
import { grouped, listText } from "./report-words.ts";

export function headline(report: Report): string[] {
  const whole = ofWholeTasks(report);
  const compared = withoutFewPeople(whole);
  const aside = whole.agents.filter((agent) => !compared.agents.includes(agent));
  const people = aside.map(
    ({ name }) =>
      `Fewer than ${peopleMin} people attempted a task as ${name}: it enters no test and no rank.`,
  );
  const of = compared.agents.length > 0 ? linesOf(compared) : [];
  const [first, ...rest] = [...of, ...people];
  return [`${report.smoke ? "Practice data. " : ""}${first}`, ...rest].map((line) => plainText(line, 2000));
}

function linesOf(report: Report): string[] {
  const { attempts, agents, cells } = report;
  if (attempts.length === 0) {
    const levels = report.ladder ? " at whole tasks: see Levels of difficulty" : "";
    return [`No attempts were planned${levels}.`];
  }
  if (!cells.some(({ primary, measured }) => primary && measured > 0))
    return [`Nothing was measured: ${missingText(report, attempts)}.`];
  if (agents.length === 1) return [aloneText(report), "There is no second agent to compare it with."];
  return [observedText(report), overallText(report), tasksText(report)];
}

/** `2 of 3 attempts failed (the sandbox did not start)`: attempts without a number, and why. */
function missingText({ tasks }: Report, attempts: Attempt[]): string {
  const missing = attempts.flatMap((attempt) => {
    const primary = tasks.find(({ name }) => name === attempt.task)?.primary ?? "";
    const way = attempt.scores[primary] ? counting(attempt, primary) : attempt.verdict;
    return way.kind === "missing" ? [plainText(way.cause, 200)] : [];
  });
  const failed = missing.every((cause) => cause.startsWith("attempt failed"));
  const causes = [...new Set(missing.map((cause) => cause.replace(/^attempt failed(: |$)/, "")))];
  const shown = [...causes.slice(0, 2), ...(causes.length > 2 ? [`${causes.length - 2} more causes`] : [])];
  return `${missing.length} of ${counted(attempts.length, "attempt")} ${failed ? "failed" : "without a score that counts"} (${shown.join("; ") || "cause unknown"})`;
}

/** A task that a statement leaves out. */
type Left = { task: string; why: string };

function aloneText(report: Report): string {
  const primary = report.cells.filter((cell) => cell.primary);
  const own = primary.filter((cell) => leftOutReasons(cell).length === 0 && cell.baseline !== null);
  const above = own.filter(({ mean, baseline, direction }) =>
    direction === "higher" ? mean! > baseline! : mean! < baseline!,
  );
  const left = report.tasks.flatMap(({ name: task }): Left[] => {
    if (own.some((cell) => cell.task === task)) return [];
    const attempts = report.attempts.filter((attempt) => attempt.task === task);
    const cell = primary.find((each) => each.task === task && each.measured > 0);
    if (!cell) return [{ task, why: missingText(report, attempts) }];
    return [{ task, why: leftOutReasons(cell).join("; ") || "its trivial baseline is unknown" }];
  });
  const at = `${above.length} of ${counted(report.tasks.length, "task")}`;
  return `Observed: the mean of ${report.agents[0]!.name} is better than the trivial baseline at ${at}${sizeText(report)}${leftText(left)}.`;
}

const reasonsMax = 3;

/** `; without a and b (why)`. */
function leftText(left: Left[]): string {
  if (left.length === 0) return "";
  const whys = [...new Set(left.flatMap(({ why }) => why.split("; ")))];
  const more = whys.length > reasonsMax ? [`${whys.length - reasonsMax} more reasons`] : [];
  const tasks = listText([...new Set(left.map(({ task }) => task))]);
  return `; without ${tasks} (${[...whys.slice(0, reasonsMax), ...more].join("; ")})`;
}

/** ` (2 attempts each, failed ones as the trivial baseline)`. */
function sizeText({ cells, coverage }: Report): string {
  const sizes = cells.flatMap(({ primary, measured }) => (primary && measured > 0 ? [measured] : []));
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const failed = coverage.attempts.disqualified + coverage.attempts.rejected > 0;
  return ` (${least === most ? "" : `${least} to `}${counted(most, "attempt")} each${failed ? ", failed ones as the trivial baseline" : ""})`;
}

function observedText(report: Report): string {
  const found = observed(report);
  const left = report.tasks.flatMap(({ name: task }): Left[] => {
    if (report.acrossTasks.ranked.includes(task)) return [];
    const cells = report.cells.filter((cell) => cell.task === task && cell.primary);
    return [{ task, why: cells.flatMap(leftOutReasons).join("; ") || "not planned for every agent" }];
  });
  const equal = found.equal.length > 0 ? `; equal means at ${listText(found.equal)}` : "";
  const atBaseline = found.atBaseline.map((cells) => `; ${atBaselineText(report, cells)}`).join("");
  const leaders = leadersOf(found);
  const doubts = leaders.flatMap((agent) => {
    const without = observed(report, agent);
    if (String(leadersOf(without)) === String(leaders)) return [];
    return ` With the undecided attempts of ${agent} at the trivial baseline, ${winsText(report, without)}.`;
  });
  return `Observed: ${winsText(report, found)}${sizeText(report)}${equal}${atBaseline}${leftText(left)}.${doubts.join("")}`;
}

function winsText({ agents, tasks, acrossTasks }: Report, { wins }: Observed): string {
  if (acrossTasks.ranked.length === 0) return "no task can be compared";
  const best = agents.length === 2 ? "better" : "best";
  const of = counted(tasks.length, "task");
  const [first] = wins;
  if (!first) return `no agent has a ${best} mean at any of ${of}`;
  const leaders = wins.filter(({ count }) => count === first.count);
  const others = wins.slice(leaders.length).map(({ agent, count }) => `${agent} at ${count}`);
  const isTie = leaders.length > 1;
  const who = isTie
    ? `a tie: ${listText(leaders.map(({ agent }) => agent))} each have`
    : `${first.agent} has`;
  return listText([`${who} the ${best} mean at ${first.count} of ${of}`, ...others]);
}

/** `both below the trivial baseline at letters: script-weak 5.53, script-strong 3.73`, with means of the scores themselves. */
function atBaselineText(report: Report, cells: Cell[]): string {
  const all = cells.length === 2 ? "both" : `all ${cells.length}`;
  const below = cells.every(({ belowBaseline, measured }) => belowBaseline === measured);
  const texts = cells.map(({ agent, metric, values, baseline, direction }) => {
    // a disqualified attempt may have a better score
    const own = values.filter(
      (each) => each !== null && (direction === "higher" ? each <= baseline! : each >= baseline!),
    ) as number[];
    const value = mean(own);
    return `${agent} ${value === undefined ? "failed" : sentenceNumber(storedMetric(report, metric), value, null)}`;
  });
  return `${all} ${below ? "below" : "not above"} the trivial baseline at ${cells[0]!.task}: ${texts.join(", ")}`;
}

function overallText(report: Report): string {
  const all = report.agentComparisons;
  const left = all.flatMap(({ leftOut }) => leftOut);
  const differences = differenceRows(report).map(({ words }) => words);
  const [none] = all.flatMap(({ difference }) => (difference.kind === "none" ? [difference.why] : []));
  const isWhole = report.acrossTasks.tasks.length === report.tasks.length && left.length === 0;
  const scale = `The others have no reference model of the kind ${report.acrossTasks.kind}, or are not tested.`;
  return [
    `Over all tasks: ${testText(report)}${leftText(left)}.`,
    ...(all.length > 1 ? [ranksText(report)] : []),
    differences.length > 0
      ? `Difference of normalised means: ${differences.join("; ")}.${isWhole ? "" : ` ${scale}`}`
      : `Difference of means not given: ${none ?? "no agent leads"}.`,
  ].join(" ");
}

/** Whether the agents differ, in a few words; `testText` has the numbers. */
export function realText({ agents, agentComparisons, smoke }: Report): string {
  if (agents.length < 2) return "Nothing to compare with.";
  const tests = pairTests(agentComparisons);
  if (tests.length === 0) return "Not tested.";
  const differ = tests.filter(({ p }) => p <= level).length;
  if (differ === 0) return "Not shown.";
  const pairs = agentComparisons.length;
  const at = `at some task${smoke ? " of this practice data" : ""}`;
  return differ < pairs ? `For ${differ} of ${pairs} pairs of agents, ${at}.` : `Yes, ${at}.`;
}

function testText(report: Report): string {
  const pairs = report.agentComparisons.length;
  const tests = pairTests(report.agentComparisons);
  if (tests.length === 0) return "not tested";
  const smallest = pText(Math.min(...tests.map(({ pMin }) => pMin)));
  if (tests.every(({ pMin }) => pMin > level))
    return `no difference could be shown, because the smallest possible p is ${smallest}`;
  const differ = tests.filter(({ p }) => p <= level);
  const shown =
    differ.length > 0 ? Math.max(...differ.map(({ p }) => p)) : Math.min(...tests.map(({ p }) => p));
  if (pairs > 1) {
    const differs = ["is shown to differ", "differs"][differ.length] ?? "differ";
    const who = `${differ.length || "none"} of ${pairs} pairs of agents ${differs} at some task`;
    return `${who} (Holm over ${counted(tests.length, "pair")}: p ${differ.length > 0 ? "at most" : "at least"} ${pText(shown)}, smallest possible ${smallest})`;
  }
  const evidence = `(p = ${pText(shown)}, smallest possible ${smallest})`;
  if (differ.length === 0) return `no difference is shown ${evidence}`;
  const { favours } = differ[0]!;
  const opposes = favours !== undefined && !leadersOf(observed(report)).includes(favours);
  return `the agents differ at some task ${evidence}${opposes ? `, and attempts of ${favours} are better more often` : ""}`;
}

/** `By mean rank: a; b, not shown better than c; c.`: shown where their pair differs in the direction of their ranks. */
function ranksText({ acrossTasks, agentComparisons }: Report): string {
  if (acrossTasks.ranked.length === 0) return "By mean rank: no task can be compared.";
  const tests = pairTests(agentComparisons);
  const order = acrossTasks.agents
    .toSorted((a, b) => (a.meanRank ?? 0) - (b.meanRank ?? 0))
    .map(({ agent }) => agent);
  const isBehind = (other: string, agent: string) =>
    tests.some(({ agents, p, favours }) => p <= level && favours === agent && agents.includes(other));
  const texts = order.map((agent, at) => {
    const open = order.slice(at + 1).filter((other) => !isBehind(other, agent));
    return open.length === 0 ? agent : `${agent}, not shown better than ${listText(open)}`;
  });
  return `By mean rank: ${texts.join("; ")}.`;
}

function tasksText({ agentComparisons }: Report): string {
  const all = agentComparisons.flatMap(({ agents, tasks }) => tasks.map((each) => ({ agents, each })));
  if (all.length === 0) return "Single tasks: not tested.";
  const over = `(Holm over ${counted(all.length, "test")}`;
  if (all.every(({ each }) => each.kind === "too-few")) {
    const needed = attemptsNeeded(all.length);
    const most = Math.max(...all.flatMap(({ each }) => each.attempts));
    const least = Math.min(...all.flatMap(({ each }) => each.attempts));
    const [these, such] =
      most < needed
        ? [`${least < most ? "up to " : ""}${counted(most, "attempt")} each`, ""]
        : ["these attempts", " each with different scores"];
    return `Single tasks: ${these} cannot name a task; ${needed}${such} could.`;
  }
  const tests = pairTests(agentComparisons);
  if (tests.length < agentComparisons.length || tests.some(({ p }) => p > level))
    return `Single tasks: none is named, because ${agentComparisons.length > 1 ? "not every pair of agents is shown to differ" : "the test over all tasks shows no difference"}.`;
  const named = all.flatMap(({ agents: [first, second], each }) => {
    if (each.kind === "too-few" || each.p > level) return [];
    const [better, worse] = each.superiority > 0.5 ? [first, second] : [second, first];
    // labels that cannot be swapped show a difference, and only of like spreads which agent is better
    const who = `${better} differs from ${worse} and is better more often`;
    return [{ who, task: each.task, p: each.p }];
  });
  if (named.length === 0) return `Single tasks: none is shown to differ alone ${over}).`;
  const texts = grouped(named, ({ who }) => [who]).map(
    (same) => `${same[0]!.who} at ${listText(same.map(({ task }) => task))}`,
  );
  return `Single tasks: ${texts.join("; ")} ${over}: p at most ${pText(Math.max(...named.map(({ p }) => p)))}).`;
}
