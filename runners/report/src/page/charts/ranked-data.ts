// The agents by their normalised mean over tasks, best first: each with an interval where that covers the mean, and
// with its difference to the best one. Pure.

import { mean, standardDeviation } from "@mlrb/core/statistics/mean";
import type { Interval } from "@mlrb/core/statistics/mean-interval";
import { studentT95 } from "@mlrb/core/statistics/student-t";
import { counted } from "@mlrb/core/text/counted";
import type { Report } from "@mlrb/formats/report";
import { meanByBenchmark } from "../../compare/by-benchmark.ts";
import { undecidedLoss } from "../../compare/headline-facts.ts";
import { ofWholeTasks } from "../../compare/ladder.ts";
import { differenceTexts } from "../../sections/digits-text.ts";

export type RankedAgent = ReturnType<typeof rankedData>[number];

/** Empty without an agent that has a mean over all compared tasks. `interval`: null where none covers the mean. */
export function rankedData(report: Report, named = (agent: string) => agent) {
  const { agents, tasks } = report.acrossTasks;
  // means over other tasks cannot be compared
  const usable = agents.flatMap(({ agent, mean: score, tasks: own }) =>
    score !== null && own.length === tasks.length ? [{ agent, score }] : [],
  );
  const differences = differenceRows(report);
  return usable
    .sort((a, b) => b.score - a.score)
    .map(({ agent, score }) => {
      const interval = intervalOverTasks(report, agent);
      const text = interval === null ? "" : `95 % ${interval.map((end) => end.toFixed(2)).join(" to ")}`;
      const behind = differences.find(({ second }) => second === agent);
      const note = behind
        ? `${differenceTexts(turned(behind)).value} to ${named(behind.first)}, ${intervalNote(behind)}`
        : `mean over ${tasks.length} of ${counted(ofWholeTasks(report).tasks.length, "task")}`;
      const words = [`${agent} ${score.toFixed(2)}`, text, behind?.words ?? note];
      return {
        ...{ agent, score, interval, note: [text, note].filter((one) => one !== "").join("; ") },
        words: words.filter((one) => one !== "").join(", "),
      };
    });
}

/** The same difference, the other way round. */
function turned({ value, interval }: { value: number; interval: Interval | null }) {
  return { value: -value, interval: interval && ([-interval[1], -interval[0]] as Interval) };
}

function intervalNote(row: ReturnType<typeof differenceRows>[number]): string {
  const { interval } = differenceTexts(turned(row));
  return interval === null ? row.note : `95 % ${interval} over ${row.note}`;
}

/**
 * The 95 % interval of the mean over tasks of the means of attempts, with Welch's degrees of freedom (1947), rounded
 * down. Null unless at every task all attempts are valid and have an interval themselves: it is then of the valid
 * attempts, as the intervals of single tasks are.
 */
export function intervalOverTasks(report: Report, agent: string): Interval | null {
  const cells = report.acrossTasks.tasks.map(({ task, metric }) =>
    report.cells.find((one) => one.task === task && one.metric === metric && one.agent === agent),
  );
  let [sum, variance, weights] = [0, 0, 0];
  for (const cell of cells) {
    if (!cell || cell.validInterval === null || cell.validN !== cell.measured) return null;
    const values = cell.normalised.filter((value) => value !== null);
    const own = standardDeviation(values)! ** 2 / values.length;
    sum += mean(values)!;
    variance += own;
    weights += own ** 2 / (values.length - 1);
  }
  if (cells.length === 0 || !(variance > 0) || !(weights > 0)) return null;
  const half = studentT95(Math.max(1, Math.floor(variance ** 2 / weights))) * Math.sqrt(variance);
  return [(sum - half) / cells.length, (sum + half) / cells.length];
}

/** The agent with the best mean rank, then the best mean over tasks; undefined without such a number. */
function leadingAgent({ acrossTasks: { agents } }: Report): string | undefined {
  const known = agents.filter(({ meanRank, mean }) => meanRank !== null || mean !== null);
  return known.sort(
    (a, b) => (a.meanRank ?? 1e9) - (b.meanRank ?? 1e9) || (b.mean ?? -1e9) - (a.mean ?? -1e9),
  )[0]?.agent;
}

/** `value` over 0: the first agent is better. `note`: `3 of 7 tasks, no interval`. */
export function differenceRows(report: Report) {
  const leader = leadingAgent(report);
  return report.agentComparisons.flatMap(({ agents: [one, other], difference }) => {
    if (difference.kind === "none" || (one !== leader && other !== leader)) return [];
    const isTurned = other === leader;
    const [first, second] = isTurned ? [other, one] : [one, other];
    const { value, interval } = isTurned ? turned(difference) : difference;
    const texts = differenceTexts({ value, interval });
    const over = `${difference.tasks.length} of ${counted(ofWholeTasks(report).tasks.length, "task")}`;
    const why =
      difference.withheld === "no-spread" ? "no interval: no spread" : "no interval: too few attempts";
    const better = value > 0 ? first : second;
    const holds = value === 0 || Math.abs(value) > undecidedLoss(report, better, difference.tasks);
    const doubt = holds ? "" : `; ${better} is not ahead with its undecided attempts at the trivial baseline`;
    return [
      {
        ...{ first, second, value, interval },
        note: `${over}${interval === null ? `, ${why}` : ""}`,
        words: `${first} minus ${second} over ${over}: ${texts.value}${texts.interval === null ? `, ${why}` : `, 95 % interval ${texts.interval}`}${byBenchmark(report, [first, second], difference.tasks)}${doubt}`,
      },
    ];
  });
}

/** `; by benchmark +0.31`, where a benchmark decides several of the tasks. */
function byBenchmark(report: Report, agents: string[], tasks: string[]): string {
  const [a, b] = agents.map((agent) => meanByBenchmark(report, { agent, tasks }));
  if (a!.value === null || b!.value === null || a!.n < 2 || a!.n === tasks.length) return "";
  return `; by benchmark ${differenceTexts({ value: a!.value - b!.value, interval: null }).value}`;
}
