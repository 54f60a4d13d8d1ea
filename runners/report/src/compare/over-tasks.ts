// One number for each agent over all tasks, from normalised scores of the tasks' primary metrics. A task without a
// usable scale is left out for all agents and named, never filled in.
import { acrossTasks } from "@mlrb/core/statistics/across-tasks";
import type { AcrossTasks, AgentAcrossTasks } from "@mlrb/formats/report/across-tasks";
import type { Cell } from "@mlrb/formats/report/cell";
import { leftOutReasons } from "./left-out-reasons.ts";

/** `tasks` are all planned ones; `cells` are of all metrics. */
export function overTasks(
  cells: Cell[],
  { tasks, agents }: { tasks: { name: string; primary: string | null }[]; agents: string[] },
): AcrossTasks {
  if (agents.length === 0) return { tasks: [], leftOut: [], agents: [] };
  const primary = cells.filter((cell) => cell.primary);
  const used: AcrossTasks["tasks"] = [];
  const leftOut: AcrossTasks["leftOut"] = [];
  for (const { name: task } of tasks) {
    const found = primary.find((cell) => cell.task === task);
    if (!found) leftOut.push({ task, why: "no score of a primary metric was planned" });
    else if (found.normalisedWithheld !== null) leftOut.push({ task, why: found.normalisedWithheld });
    else {
      const { metric, floor, anchor, anchorName } = found;
      if (floor === null || anchor === null || anchorName === null)
        throw new Error(`bug: a scale at ${task} without its two ends`);
      used.push({ task, metric, floor, anchor, anchorName });
    }
  }
  return {
    tasks: used,
    leftOut,
    agents: agents.map((agent) =>
      ofAgent(agent, {
        tasks: used.map(({ task }) => task),
        cells: primary.filter((cell) => cell.agent === agent),
      }),
    ),
  };
}

function ofAgent(agent: string, { tasks, cells }: { tasks: string[]; cells: Cell[] }): AgentAcrossTasks {
  const leftOut: AgentAcrossTasks["leftOut"] = [];
  const scores = tasks.flatMap((task) => {
    const cell = cells.find((each) => each.task === task);
    const whys = cell ? leftOutReasons(cell) : [`not planned for ${agent}`];
    const values = (cell?.normalised ?? []).filter((value) => value !== null);
    if (whys.length === 0 && values.length > 0) return [{ task, values }];
    leftOut.push({ task, why: whys.join("; ") || "the values are too large" });
    return [];
  });
  const found = acrossTasks(scores);
  return {
    agent,
    tasks: found.tasks,
    leftOut,
    mean: found.mean ?? null,
    leaveOneOut: found.leaveOneOut,
    interquartileMean: found.interquartileMean ?? null,
  };
}
