// Is one agent better than another, over all tasks and at each? Attempts are the unit here.

import type { Report } from "@mlrb/formats/report";
import type { AgentComparison, Detectable } from "@mlrb/formats/report/agent-comparison";
import { pText } from "./p-text.ts";
import { grouped, metricHead, metricOf, taskTitle } from "./report-words.ts";
import { type Item, type Section, type TableCell, textCell } from "./table.ts";

export function agentsSection(report: Report): Section {
  const all = report.agentComparisons;
  return {
    heading: `Agents compared over all tasks${report.smoke ? ` (${report.label})` : ""}`,
    caption:
      "P(first) is the probability that an attempt of the first agent is better than an attempt of the second; ties " +
      "count half, and 0.5 means no difference. Over all tasks: the mean of P(first) over the primary metrics, and p " +
      "of a two-sided permutation test of the agents' labels within tasks, next to the smallest p that these values " +
      "allow. Task by task: p adjusted by Holm's method. Pairs are attempts with the same seed, of agents whose only " +
      "randomness is the seed; their p is of a sign-flip test.",
    tables: [
      {
        title: "Over all tasks",
        columns: [
          { head: "agents", rigid: false },
          { head: "test", rigid: false },
          { head: "tasks", rigid: true },
          { head: "P(first)", rigid: true },
          { head: "p", rigid: true },
          { head: "smallest p", rigid: true },
          { head: "method", rigid: false },
        ],
        groups: all.length === 0 ? [] : [{ name: "", title: "", rows: all.flatMap(overallRows) }],
      },
      {
        title: "Task by task",
        columns: [
          { head: "agents", rigid: false },
          { head: "metric", rigid: false },
          { head: "attempts", rigid: true },
          { head: "P(first)", rigid: true },
          { head: "p (Holm)", rigid: true },
        ],
        groups: report.tasks
          .map(({ name }) => ({
            name,
            title: taskTitle(report, name),
            rows: all.flatMap((each) => taskRows(report, each, name)),
          }))
          .filter(({ rows }) => rows.length > 0),
      },
    ],
    items: [...readWithCare(all), ...designs(all)],
  };
}

function overallRows({ agents, overall, pairs }: AgentComparison): TableCell[][] {
  const names = textCell(agents.join(" and "));
  const none = textCell("–", "faint");
  const row = (test: string, found: typeof overall | typeof pairs): TableCell[] => {
    if (found.kind !== "tested")
      return [names, textCell(test), none, none, textCell("not tested", "bad"), none, none];
    const { tasks, statistic, p, pMin, method } = found;
    const way =
      method.kind === "exact"
        ? "exact"
        : `${method.permutations} random permutations, error ${method.standardError.toExponential(0)}`;
    return [
      names,
      textCell(test),
      textCell(String(tasks)),
      textCell(statistic.toFixed(2)),
      textCell(pText(p)),
      textCell(pText(pMin)),
      textCell(way),
    ];
  };
  const rows = [row("all attempts", overall)];
  if (pairs.kind === "tested") rows.push(row(pairs.pairs === 1 ? "1 pair" : `${pairs.pairs} pairs`, pairs));
  return rows;
}

function taskRows(report: Report, { agents, tasks }: AgentComparison, task: string): TableCell[][] {
  return tasks
    .filter((each) => each.task === task)
    .map((each) => [
      textCell(agents.join(" and ")),
      textCell(metricHead(metricOf(report, each.metric))),
      textCell(each.attempts.join(" vs ")),
      textCell(each.superiority.toFixed(2)),
      each.kind === "tested" ? textCell(pText(each.p)) : textCell("too few seeds to test", "faint"),
    ]);
}

function readWithCare(all: AgentComparison[]): Item[] {
  const tasks = all.flatMap(({ agents, leftOut }) => leftOut.map((each) => ({ agents, ...each })));
  return [
    ...grouped(
      tasks,
      ({ agents, why }) => [...agents, why],
      (same) => ({
        head: same[0]!.agents.join(" and "),
        text: `without ${same.map(({ task }) => task).join(", ")}: ${same[0]!.why}`,
      }),
    ),
    ...all.flatMap(({ agents, equalSubmissions }) =>
      equalSubmissions.length === 0
        ? []
        : [{ head: agents.join(" and "), text: `p may be too small: ${equalText(equalSubmissions)}` }],
    ),
    ...all.flatMap(({ agents, pairs }) =>
      pairs.kind === "not-paired"
        ? [{ head: agents.join(" and "), text: `not compared as pairs: ${pairs.why}` }]
        : [],
    ),
  ];
}

/** `attempts of minimal at t, of reference at t and u submitted identical files and are not independent`. */
function equalText(equal: AgentComparison["equalSubmissions"]): string {
  const byAgent = [...Map.groupBy(equal, ({ agent }) => agent)].map(
    ([agent, same]) => `of ${agent} at ${same.map(({ task }) => task).join(" and ")}`,
  );
  return `attempts ${byAgent.join(", ")} submitted identical files and are not independent`;
}

/** What the run could have found, once for all agents of whom the same was planned. */
function designs(all: AgentComparison[]): Item[] {
  return grouped(
    all.filter(({ design }) => design !== null),
    ({ design }) => [JSON.stringify(design)],
    (same) => {
      const { tasks, attempts, together, first } = same[0]!.design!;
      const size = `${attempts.join(" vs ")} attempts at ${tasks === 1 ? "1 task" : `each of ${tasks} tasks`}`;
      const alone =
        tasks === 1 ? "" : `; at a single task, the first in Holm's order: ${detectableText(first)}`;
      return {
        head: "detectable difference (power 0.8, level 0.05)",
        text: `${size}: ${detectableText(together)}${alone}`,
      };
    },
  );
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
