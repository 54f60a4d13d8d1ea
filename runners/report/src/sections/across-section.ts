// Who is ahead over all tasks, on one scale: how much of the way from doing nothing useful to a known model.

import type { Report } from "@mlrb/formats/report";
import type { AgentAcrossTasks } from "@mlrb/formats/report/across-tasks";
import { digitsText } from "./digits-text.ts";
import { metricHead, metricOf, taskTitle } from "./report-words.ts";
import { type Item, type Section, type TableCell, textCell } from "./table.ts";

const digits = 2;

export function acrossSection(report: Report): Section {
  const { tasks, leftOut, agents } = report.acrossTasks;
  const none = textCell("–", "faint");
  const number = (value: number | null | undefined) =>
    value === null || value === undefined ? none : textCell(digitsText(value, digits));
  const rows = tasks.map(({ task, metric, floor, anchor, anchorName }): TableCell[] => {
    const known = metricOf(report, metric);
    const shares = agents.map((agent) => {
      const cell = report.cells.find(
        (each) => each.task === task && each.agent === agent.agent && each.metric === metric,
      );
      return agent.tasks.includes(task) ? number(cell?.normalisedMean) : textCell("left out", "bad");
    });
    const [low, high] = [floor, anchor].map((value) => digitsText(value, known.digits));
    return [
      textCell(task),
      textCell(metricHead(known)),
      textCell(`${low} to ${high}`),
      textCell(anchorName),
      ...shares,
    ];
  });
  return {
    heading: `Across tasks${report.smoke ? ` (${report.label})` : ""}`,
    caption:
      "Normalised scores of the metrics that decide the tasks: 0 is the trivial baseline, 1 is the reference model; " +
      "scores are not clipped. A task is left out where the two are less than five standard errors apart. Over tasks: " +
      "the mean of the tasks' means, its range when one task at a time is left out, and the interquartile mean, over " +
      "the middle half of all attempts with the same weight for every task.",
    tables: [
      {
        title: "Task by task",
        columns: [
          { head: "task", rigid: false },
          { head: "metric", rigid: false },
          { head: "baseline to reference", rigid: true },
          { head: "reference model", rigid: false },
          ...agents.map(({ agent }) => ({ head: agent, rigid: true })),
        ],
        groups: rows.length === 0 ? [] : [{ name: "", title: "", rows }],
      },
      {
        title: "Over tasks",
        columns: [
          { head: "agent", rigid: false },
          { head: "tasks", rigid: true },
          { head: "mean", rigid: true },
          { head: "without one task", rigid: true },
          { head: "interquartile mean", rigid: true },
        ],
        groups:
          rows.length === 0
            ? []
            : [
                {
                  name: "",
                  title: "",
                  rows: agents.map((each) => [
                    textCell(each.agent),
                    textCell(`${each.tasks.length} of ${report.tasks.length}`),
                    number(each.mean),
                    rangeCell(each),
                    number(each.interquartileMean),
                  ]),
                },
              ],
      },
    ],
    items: [
      ...leftOut.map(({ task, why }): Item => ({ head: taskTitle(report, task), text: `left out: ${why}` })),
      ...agents.flatMap((each) =>
        each.leftOut.map(({ task, why }): Item => ({ head: each.agent, text: `without ${task}: ${why}` })),
      ),
      ...notComparable(agents),
    ],
  };
}

function rangeCell({ leaveOneOut }: AgentAcrossTasks): TableCell {
  if (leaveOneOut.length === 0) return textCell("–", "faint");
  const means = leaveOneOut.map(({ mean }) => mean);
  return textCell(`${digitsText(Math.min(...means), digits)} to ${digitsText(Math.max(...means), digits)}`);
}

/** Means over different tasks differ by the tasks too. */
function notComparable(agents: AgentAcrossTasks[]): Item[] {
  const byTasks = Map.groupBy(agents, ({ tasks }) => JSON.stringify(tasks));
  if (byTasks.size < 2) return [];
  const parts = [...byTasks.values()].map((same) => same.map(({ agent }) => agent).join(", "));
  return [{ head: "not comparable", text: `${parts.join(" with ")}: their means cover different tasks` }];
}
