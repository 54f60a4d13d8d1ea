// Takes out of a pipeline what has the wrong shape, and remembers where, so that the rest is checked
// in the same go and nothing is reported that only follows from a slip already told.
import type { ShapeProblem } from "./check-shape.ts";
import { stageSchema } from "./pipeline-schema.ts";
import type { PipelineSpec } from "./pipeline-spec.ts";
import { suggest } from "./suggest.ts";

export type Pruned = {
  spec: PipelineSpec;
  /** Whether what stands at `path` is not known: it, or the table it would stand in, had the wrong shape. */
  unclear: (...path: string[]) => boolean;
  /** Whether it or anything in it is not known. */
  touched: (...path: string[]) => boolean;
};

const stageKeys = Object.keys(stageSchema.properties);
const tables = ["axes", "params", "profiles", "stages"] as const;

/** What is left of `value`; undefined when that is nothing to go on with. */
export function pruneShape(value: unknown, problems: ShapeProblem[]): Pruned | undefined {
  if (!isTable(value)) return undefined;
  if (problems.some(({ problem }) => problem.code === "format-version")) return undefined;
  const spec = structuredClone(value);
  const lost = new Set<string>();
  for (const { path, key, problem } of problems) {
    if (problem.code === "bad-name" && path.length === 1 && path[0] !== "name") continue;
    const steps = path.map(String);
    if (key !== undefined) {
      remove(spec, [...steps, key]);
      // a slip in `gives` or `each` leaves open what the stage gives, or over what it fans out
      if (steps.length === 0) {
        const meant = suggest(key, tables);
        if (meant !== undefined && !Object.hasOwn(spec, meant)) lost.add(meant);
      } else if (steps.length === 2 && steps[0] === "stages") {
        const meant = suggest(key, stageKeys);
        lost.add([...steps, ...(meant === undefined ? [] : [meant])].join("/"));
      } else if (steps.length === 2) lost.add(steps.join("/"));
      else if (steps[0] === "stages") lost.add(steps.slice(0, 3).join("/"));
      else lost.add(steps.slice(0, 2).join("/"));
      continue;
    }
    if (steps.length === 0) continue;
    const depth = steps[0] === "stages" && steps.length > 2 ? 3 : Math.min(steps.length, 2);
    lost.add(steps.slice(0, depth).join("/"));
    remove(spec, steps.slice(0, depth));
  }
  if (!isTable(spec.stages)) return undefined;
  const unclear = (...path: string[]) =>
    path.some((_, depth) => lost.has(path.slice(0, depth + 1).join("/")));
  const touched = (...path: string[]) =>
    unclear(...path) || [...lost].some((one) => one.startsWith(`${path.join("/")}/`));
  return { spec: spec as PipelineSpec, unclear, touched };
}

function isTable(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function remove(from: Record<string, unknown>, path: string[]): void {
  let holder: unknown = from;
  for (const step of path.slice(0, -1)) {
    if (!isTable(holder) || !Object.hasOwn(holder, step)) return;
    holder = holder[step];
  }
  if (isTable(holder)) delete holder[path.at(-1)!];
}
