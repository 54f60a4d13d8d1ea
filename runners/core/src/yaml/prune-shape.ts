// Removes the parts of a pipeline with the wrong shape and remembers their paths, so that the rest is checked in
// the same run and no consequence of a reported problem is reported.

import { type PipelineSpec, stageSpec } from "@mlrb/formats/declared/pipeline";
import { isTable } from "@mlrb/formats/is-table";
import type { ShapeProblem } from "./check-shape.ts";
import { suggest } from "./suggest.ts";

export type Pruned = {
  spec: PipelineSpec;
  /** Whether the value at `path` is unknown: the value, or a table that contains it, had the wrong shape. */
  unclear: (...path: string[]) => boolean;
  /** Whether the value at `path` or anything in it is unknown. */
  touched: (...path: string[]) => boolean;
};

const stageKeys = Object.keys(stageSpec.properties);
const tables = ["axes", "params", "pools", "defaults", "profiles", "stages"] as const;

/** The rest of `value`; undefined if the rest cannot be checked. */
export function pruneShape(value: unknown, problems: ShapeProblem[]): Pruned | undefined {
  if (!isTable(value)) return undefined;
  if (problems.some(({ problem }) => problem.code === "format-version")) return undefined;
  const spec = structuredClone(value);
  const lost = new Set<string>();
  /** Removes the whole setting that contains `steps`: a part of it may make no sense. */
  const cut = (steps: string[]) => {
    const isNested = steps[0] === "stages" || steps[0] === "profiles";
    const top = steps.slice(0, isNested ? 3 : 2);
    lost.add(top.join("/"));
    remove(spec, top);
    // keep the profile itself, since others may extend it
    if (top[0] === "profiles" && top.length === 2) (spec.profiles as Record<string, unknown>)[top[1]!] = {};
  };
  for (const { path, key, problem } of problems) {
    if (problem.code === "bad-name" && path.length === 1 && path[0] !== "name") continue;
    const steps = path.map(String);
    if (key !== undefined) {
      remove(spec, [...steps, key]);
      // a misspelt `gives` or `each` leaves the outputs or axes unknown
      if (steps.length === 0) {
        const meant = suggest(key, tables);
        if (meant !== undefined && !Object.hasOwn(spec, meant)) lost.add(meant);
      } else if (steps.length === 2 && steps[0] === "stages") {
        const meant = suggest(key, stageKeys);
        lost.add([...steps, ...(meant === undefined ? [] : [meant])].join("/"));
      } else if (steps[0] === "profiles" && steps.length === 2) lost.add(steps.join("/"));
      else cut(steps);
      continue;
    }
    if (steps.length === 0) continue;
    cut(steps);
  }
  if (!isTable(spec.stages)) return undefined;
  const unclear = (...path: string[]) =>
    path.some((_, depth) => lost.has(path.slice(0, depth + 1).join("/")));
  const above = new Set<string>();
  for (const one of lost)
    for (let end = one.indexOf("/"); end >= 0; end = one.indexOf("/", end + 1)) above.add(one.slice(0, end));
  const touched = (...path: string[]) => unclear(...path) || above.has(path.join("/"));
  return { spec: spec as PipelineSpec, unclear, touched };
}

function remove(from: Record<string, unknown>, path: string[]): void {
  let holder: unknown = from;
  for (const step of path.slice(0, -1)) {
    if (!isTable(holder) || !Object.hasOwn(holder, step)) return;
    holder = holder[step];
  }
  if (isTable(holder)) delete holder[path.at(-1)!];
}
