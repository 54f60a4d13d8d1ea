// The last row of the forest plot: the difference of means over tasks between the leading agent and each other
// one. Pure.
import { counted } from "@mlrb/core/text/counted";
import type { Report } from "@mlrb/formats/report";
import { meanByBenchmark } from "../../compare/by-benchmark.ts";
import { undecidedLoss } from "../../compare/headline-facts.ts";
import { differenceTexts } from "../../sections/statistics-text.ts";

export type DifferenceRow = ReturnType<typeof differenceRows>[number];

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
    const turned = other === leader;
    const [first, second] = turned ? [other, one] : [one, other];
    const { value, interval } = difference;
    const own = {
      value: turned ? -value : value,
      interval: interval && turned ? ([-interval[1], -interval[0]] as [number, number]) : interval,
    };
    const texts = differenceTexts(own);
    const over = `${difference.tasks.length} of ${counted(report.tasks.length, "task")}`;
    const why =
      difference.withheld === "no-spread" ? "no interval: no spread" : "no interval: too few attempts";
    const better = own.value > 0 ? first : second;
    const holds = own.value === 0 || Math.abs(own.value) > undecidedLoss(report, better, difference.tasks);
    const doubt = holds ? "" : `; ${better} is not ahead with its undecided attempts at the trivial baseline`;
    return [
      {
        ...{ first, second, ...own },
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
