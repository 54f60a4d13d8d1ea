// One number for each agent over all tasks, from normalised scores of the tasks' primary metrics: of tasks whose
// reference models are of one kind. A task without such a scale is left out for all agents and named, never filled
// in. Ranks need no scale.
import { acrossTasks } from "@mlrb/core/statistics/across-tasks";
import { withoutNoise } from "@mlrb/core/statistics/mean";
import { meanRanks } from "@mlrb/core/statistics/mean-ranks";
import type { ReferenceKind } from "@mlrb/formats/judged/references";
import type { AcrossTasks, AgentAcrossTasks } from "@mlrb/formats/report/across-tasks";
import type { Cell } from "@mlrb/formats/report/cell";
import { leftOutReasons } from "./left-out-reasons.ts";

/** `tasks` are all planned ones; `cells` are of all metrics. */
export function overTasks(
  cells: Cell[],
  { tasks, agents }: { tasks: { name: string; primary: string | null }[]; agents: string[] },
): AcrossTasks {
  if (agents.length === 0) return { kind: null, ranked: [], tasks: [], leftOut: [], agents: [] };
  const primary = cells.filter((cell) => cell.primary);
  const at = (task: string) => primary.find((cell) => cell.task === task);
  const kind = commonKind(
    tasks.flatMap(({ name }) => {
      const cell = at(name);
      return cell && cell.normalisedWithheld === null ? [cell.referenceKind] : [];
    }),
  );
  const used: AcrossTasks["tasks"] = [];
  const leftOut: AcrossTasks["leftOut"] = [];
  for (const { name: task } of tasks) {
    const found = at(task);
    const why = found ? noScale(found, kind) : "no score of a primary metric was planned";
    if (why !== null || !found) leftOut.push({ task, why: why ?? "" });
    else used.push(scaleOf(found));
  }
  const names = used.map(({ task }) => task);
  const ranks = ranking(primary, { tasks: tasks.map(({ name }) => name), agents });
  return {
    kind,
    ranked: ranks.tasks,
    tasks: used,
    leftOut,
    agents: agents.map((agent, index) => ({
      ...ofAgent(agent, { tasks: names, cells: primary.filter((cell) => cell.agent === agent) }),
      meanRank: ranks.means?.[index] ?? null,
    })),
  };
}

/** Why a task's scale is not used; null if it is. */
function noScale(
  { normalisedWithheld, referenceName, referenceKind }: Cell,
  kind: ReferenceKind | null,
): string | null {
  if (normalisedWithheld !== null) return normalisedWithheld;
  if (referenceKind === null) return `the kind of the reference model ${referenceName} is unknown`;
  if (referenceKind === kind) return null;
  const most = kind === null ? "no kind is that of most tasks" : `most tasks have one of the kind ${kind}`;
  return `its reference model ${referenceName} is of the kind ${referenceKind}; ${most}`;
}

function scaleOf({ task, metric, baseline, reference, referenceName }: Cell): AcrossTasks["tasks"][number] {
  if (baseline === null || reference === null || referenceName === null)
    throw new Error(`bug: a scale at ${task} without its two ends`);
  return { task, metric, baseline, reference, referenceName };
}

/** Over the tasks at which every agent has a usable mean; one agent has no rank. */
function ranking(primary: Cell[], { tasks, agents }: { tasks: string[]; agents: string[] }) {
  if (agents.length < 2) return { tasks: [], means: undefined };
  const ranked = tasks.flatMap((task) => {
    const values = agents.flatMap((agent) => {
      const cell = primary.find((each) => each.task === task && each.agent === agent);
      if (!cell || cell.mean === null || leftOutReasons(cell).length > 0) return [];
      return [withoutNoise(cell.direction === "higher" ? cell.mean : -cell.mean)];
    });
    return values.length === agents.length ? [{ task, values }] : [];
  });
  return { tasks: ranked.map(({ task }) => task), means: meanRanks(ranked.map(({ values }) => values)) };
}

function ofAgent(
  agent: string,
  { tasks, cells }: { tasks: string[]; cells: Cell[] },
): Omit<AgentAcrossTasks, "meanRank"> {
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

/**
 * A score of 1 means something else on each kind of reference model: an n-gram, an unchanged model or the right
 * answers. The kind of more of `kinds` than any other; nulls are of unknown kinds. Null if two kinds are equally frequent:
 * which of them to use would be arbitrary.
 */
function commonKind(kinds: readonly (ReferenceKind | null)[]): ReferenceKind | null {
  const known = kinds.filter((kind) => kind !== null);
  const counts = [...Map.groupBy(known, (kind) => kind)]
    .map(([kind, same]) => ({ kind, count: same.length }))
    .sort((a, b) => b.count - a.count);
  const [most, second] = counts;
  return most && most.count > (second?.count ?? 0) ? most.kind : null;
}
