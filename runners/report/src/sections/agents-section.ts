// Tests whether one agent is better than another, over all tasks and at each. The unit is the attempt.

import { attemptsMin } from "@mlrb/core/statistics/significance/difference-interval";
import type { Report } from "@mlrb/formats/report";
import type { AgentComparison, AgentDifference, Detectable } from "@mlrb/formats/report/agent-comparison";
import { type PairTest, pairTests } from "../compare/headline-facts.ts";
import { metricOf } from "../units/shown-metric.ts";
import { differenceTexts, pText, rateText } from "./digits-text.ts";
import { grouped, metricHead } from "./report-words.ts";
import { type Item, type Section, type TableCell, textCell } from "./table.ts";
import { byTask, column, noNumber, numeric, oneGroup, tableOf } from "./table-of.ts";

export function agentsSection(report: Report): Section {
  const all = report.agentComparisons;
  const pairs = pairTests(all);
  return {
    heading: `Agents compared over all tasks${report.smoke ? ` (${report.label})` : ""}`,
    caption:
      "Difference: of the normalised means over attempts, failed ones included, with a 95 % interval from the inverted " +
      "permutation test. P(first) is the probability that an attempt of the first agent is better than an attempt of the " +
      "second, with a 95 % interval; ties count half, and 0.5 means no difference. Over all tasks: the mean of P(first) " +
      "over the primary metrics, and p over attempts: of a two-sided permutation test of the agents' labels within " +
      "tasks, next to the smallest p that these values allow. Task by task: p over attempts adjusted by Holm's method over " +
      "the tasks of all pairs. " +
      "Pairs are attempts with the same seed, of agents whose only randomness is the seed; their p is of a sign-flip " +
      "test.",
    tables: [
      tableOf("Difference over tasks", oneGroup(all.flatMap(differenceRows)), [
        column("agents", ({ agents }) => agents.join(" minus ")),
        column("tasks", ({ difference }) => difference.tasks.join(", ")),
        numeric("difference", ({ difference }) => differenceTexts(difference).value),
        numeric("95 % interval", ({ difference: found }) => differenceTexts(found).interval ?? none),
      ]),
      tableOf("Over all tasks", oneGroup(all.flatMap(tests)), [
        column("agents", ({ agents }) => agents.join(" and ")),
        column("test", ({ test }) => test),
        tested("tasks", ({ tasks }) => String(tasks)),
        tested("P(first)", firstText),
        tested("p over attempts", ({ p }) => pText(p), textCell("not tested", "bad")),
        ...(all.length > 1 ? [numeric("p (Holm over pairs)", (row: TestRow) => holmText(row, pairs))] : []),
        tested("smallest p", ({ pMin }) => pText(pMin)),
        { ...tested("method", ({ method }) => methodText(method)), rigid: false },
      ]),
      tableOf("Task by task", byTask(report, all.flatMap(taskRows)), [
        column("agents", ({ agents }) => agents.join(" and ")),
        column("metric", ({ metric }) => metricHead(metricOf(report, metric))),
        numeric("attempts", ({ attempts }) => attempts.join(" vs ")),
        numeric("P(first)", ({ superiority, interval }) => rateText(superiority, interval)),
        numeric("p over attempts (Holm)", (row) =>
          row.kind === "tested" ? pText(row.p) : textCell("too few seeds to test", "faint"),
        ),
      ]),
    ],
    items: [...readWithCare(all), ...designs(all)],
  };
}

const none = textCell("none", "faint");

type Compared = { agents: [string, string]; difference: Extract<AgentDifference, { kind: "difference" }> };

function differenceRows({ agents, difference }: AgentComparison): Compared[] {
  return difference.kind === "difference" ? [{ agents, difference }] : [];
}

function taskRows({ agents, tasks }: AgentComparison) {
  return tasks.map((each) => ({ agents, ...each }));
}

/** Pairs of attempts give a share without an interval. */
function firstText(result: Tested): string {
  return rateText(result.statistic, "interval" in result ? result.interval : null);
}

type Result = AgentComparison["overall"] | AgentComparison["pairs"];
type Tested = Extract<Result, { kind: "tested" }>;
type TestRow = { agents: [string, string]; test: string; result: Result };

/** The test over all attempts, and the test over pairs if there are any. */
function tests({ agents, overall, pairs }: AgentComparison): TestRow[] {
  const rows: TestRow[] = [{ agents, test: "all attempts", result: overall }];
  if (pairs.kind === "tested")
    rows.push({ agents, test: pairs.pairs === 1 ? "1 pair" : `${pairs.pairs} pairs`, result: pairs });
  return rows;
}

function holmText({ agents, test }: TestRow, tests: PairTest[]): TableCell {
  const found = tests.find((each) => test === "all attempts" && each.agents === agents);
  return found ? textCell(pText(found.p)) : noNumber;
}

function tested(head: string, shown: (result: Tested) => string, otherwise = noNumber) {
  return numeric(head, ({ result }: TestRow) => (result.kind === "tested" ? shown(result) : otherwise));
}

function methodText(method: Tested["method"]): string {
  if (method.kind === "exact") return "exact";
  return `${method.permutations} random permutations, error ${method.standardError.toExponential(0)}`;
}

function readWithCare(all: AgentComparison[]): Item[] {
  const tasks = all.flatMap(({ agents, leftOut }) => leftOut.map((each) => ({ agents, ...each })));
  return [
    ...grouped(tasks, ({ agents, why }) => [...agents, why]).map((same) => ({
      head: same[0]!.agents.join(" and "),
      text: `tested without ${same.map(({ task }) => task).join(", ")}: ${same[0]!.why}`,
    })),
    ...all.flatMap(({ agents, difference }) => {
      const why = differenceNote(difference);
      return why === "" ? [] : [{ head: agents.join(" and "), text: why }];
    }),
    ...all.flatMap(({ agents, pairs }) =>
      pairs.kind === "not-paired"
        ? [{ head: agents.join(" and "), text: `not compared as pairs: ${pairs.why}` }]
        : [],
    ),
  ];
}

/** Why there is no difference or no interval; empty if there are both. */
function differenceNote(difference: AgentDifference): string {
  if (difference.kind === "none") return `difference of means not given: ${difference.why}`;
  switch (difference.withheld) {
    case "too-few":
      return `no interval of the difference: it needs ${attemptsMin} attempts of each agent over the tasks, and 2 at each`;
    case "no-spread":
      return "no interval of the difference: the attempts of each agent have equal scores";
    case null:
      return "";
  }
}

/** The smallest difference that the run could detect, once for all pairs with the same design. */
function designs(all: AgentComparison[]): Item[] {
  return grouped(
    all.filter(({ design }) => design !== null),
    ({ design }) => [JSON.stringify(design)],
  ).map((same) => {
    const { tasks, attempts, together, first } = same[0]!.design!;
    const size = `${attempts.join(" vs ")} attempts at ${tasks === 1 ? "1 task" : `each of ${tasks} tasks`}`;
    const alone =
      tasks === 1 ? "" : `; at a single task, the first in Holm's order: ${detectableText(first)}`;
    return {
      head: "detectable difference (power 0.8, level 0.05)",
      text: `${size}: ${detectableText(together)}${alone}`,
    };
  });
}

function detectableText(found: Detectable): string {
  switch (found.kind) {
    case "detectable":
      return `P(first) = ${found.superiority.toFixed(2)} (${found.normalShift.toFixed(1)} standard deviations between attempts)`;
    case "undetectable":
      return `none, because the smallest possible p is ${pText(found.pMin)}`;
    case "too-large-to-compute":
      return "not computed for this many attempts";
  }
}
