// An axis `level` multiplies the tasks by levels of difficulty. It is no axis of its own: the task's name gains the
// level, so that records, tables and `--only` treat a task at a level as they treat any task.
import type { PipelineSpec } from "@mlrb/formats/declared/pipeline";
import { readManifest } from "../spec/manifest.ts";
import type { Sources } from "../spec/sources.ts";
import { levelNames, splitTaskName, taskWithLevel, wholeLevel } from "../spec/task-level.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import type { Selection } from "./resolve-axes.ts";
import type { ResolvedProfile } from "./resolve-profile.ts";

/** `asked`: the part of the selection that `axes` and `set` no longer show. */
type Levelled = { axes: ResolvedProfile["axes"]; set: Selection; asked?: Selection; problems: Diagnostic[] };

/**
 * Tasks that have none of the chosen levels on the data of `params.data` are left out. Nothing changes without an axis
 * `level`, or where a stage of `spec` has it: then it is the pipeline's own.
 */
export function setLevels(
  spec: Pick<PipelineSpec, "stages">,
  { axes, params }: Pick<ResolvedProfile, "axes" | "params">,
  { set, sources }: { set: Selection; sources: Sources },
): Levelled {
  const { level, ...others } = axes;
  const { level: chosen, ...rest } = set;
  const { task } = axes;
  const isOwn = Object.values(spec.stages).some(({ each = [] }) => each.includes("level"));
  if (isOwn || !level || !Array.isArray(level.spec) || !task || !Array.isArray(task.spec))
    return { axes, set, problems: [] };
  const wanted = chosen ?? level.spec.map(String);
  const levelsOf = (name: string) => {
    const manifest = readManifest("task", name, sources);
    return manifest && !Array.isArray(manifest) ? levelNames(manifest.value, String(params.data)) : undefined;
  };
  const known = new Set<string>([wholeLevel]);
  const atLevels = (name: string): string[] => {
    const own = splitTaskName(name).level === undefined ? levelsOf(name) : undefined;
    if (!own) return [name]; // its level is chosen already, or its problem is reported with its file
    for (const one of own) known.add(one);
    const had = wanted.filter((one) => own.includes(one));
    if (had.length === 0 && wanted.some((one) => one !== wholeLevel)) return [];
    return wanted
      .filter((one) => one === wholeLevel || own.includes(one))
      .map((one) => taskWithLevel(name, one));
  };
  const tasks = task.spec.map(String).flatMap(atLevels);
  const named = rest.task?.flatMap(atLevels);
  const problems = wanted
    .filter((one) => !known.has(one))
    .map((one) => ({
      code: "unknown-level",
      message: `no task here has a level "${one}"`,
      help: didYouMean(one, [...known]),
    }));
  return {
    axes: { ...others, task: { ...task, spec: tasks } },
    set: { ...rest, ...(named && { task: named }) },
    asked: { ...(rest.task && { task: rest.task }), ...(chosen && { level: chosen }) },
    problems,
  };
}
