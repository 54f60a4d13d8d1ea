// From a pipeline's text to a plan, or to everything that is wrong with it. The one door: run, plan,
// check and watch all come through here, so they cannot disagree on what is valid.
import { checkShape } from "./check-shape.ts";
import { type Diagnostic, sortDiagnostics } from "./diagnostic.ts";
import { duplicateInstances, expand } from "./expand.ts";
import type { Sources } from "./manifest.ts";
import { agentSchema, scorerSchema, taskSchema } from "./manifest-schema.ts";
import { pipelineSchema } from "./pipeline-schema.ts";
import type { PipelineSpec } from "./pipeline-spec.ts";
import type { Plan } from "./plan.ts";
import { planStages } from "./plan-stages.ts";
import { resolveAxes, type Selection } from "./resolve-axes.ts";
import { mergeExecution, resolveProfile } from "./resolve-profile.ts";
import { parseYaml } from "./yaml-source.ts";

export type PlanRequest = {
  /** Path of the pipeline's file, relative to the repository's root. */
  file: string;
  profile?: string | undefined;
  set?: Selection;
  /** `--executor`: where everything that is not bound elsewhere runs. */
  executor?: string | undefined;
};

export type PlanResult = { plan: Plan } | { problems: Diagnostic[] };

/** `executors` are the names that the program can send stages to. */
export function loadPlan(request: PlanRequest, sources: Sources, executors: string[]): PlanResult {
  const { file, set = {} } = request;
  const text = sources.read(file);
  if (text === undefined)
    return { problems: [{ code: "unknown-file", message: `there is no file ${file}` }] };
  const source = parseYaml(file, text);
  if (Array.isArray(source)) return { problems: sortDiagnostics(source) };
  const shape = checkShape(source, pipelineSchema);
  if (shape.length > 0) return { problems: sortDiagnostics(shape) };
  const spec = source.value as PipelineSpec;
  const profile = resolveProfile(spec, source, request.profile);
  if (Array.isArray(profile)) return { problems: sortDiagnostics(profile) };

  const name = file
    .split("/")
    .at(-1)!
    .replace(/\.[^.]*$/, "");
  if (spec.name !== name) {
    const message = `the pipeline is called "${spec.name}", and its file "${name}"`;
    const help = "the two must be the same: results are laid out under the name";
    return { problems: [{ code: "name-differs", message, place: source.place(["name"]), help }] };
  }
  const { axes, manifests, problems } = resolveAxes(spec, source, profile, { sources, set });
  // an axis that could not be resolved is still declared: do not report it as unknown a second time
  for (const name of Object.keys(profile.axes)) if (!axes.has(name)) axes.set(name, { name, values: [] });
  const planned = planStages(spec, source, axes);
  if ("problems" in planned) return { problems: sortDiagnostics([...problems, ...planned.problems]) };
  const { stages } = planned;

  const title = spec.title ?? spec.name;
  const found: Diagnostic[] = [];
  const instances = expand(stages, {
    source,
    sources,
    axes,
    manifests,
    manifestFields: {
      task: Object.keys(taskSchema.properties),
      scorer: Object.keys(scorerSchema.properties),
      agent: Object.keys(agentSchema.properties),
    },
    params: profile.params,
    pipeline: { name: spec.name, title },
    execution: (name) => {
      const own = mergeExecution(
        mergeExecution(spec.stages[name] ?? {}, profile.execution),
        profile.stages[name] ?? {},
      );
      return request.executor === undefined ? own : { ...own, executor: request.executor };
    },
    executors,
    problems: found,
  });
  problems.push(...unique(found), ...duplicateInstances(instances));
  if (problems.length > 0) return { problems: sortDiagnostics(problems) };
  const selection = Object.entries(set)
    .map(([axis, values]) => `${axis}=${values.join("+")}`)
    .sort()
    .join(",");
  return { plan: { pipeline: spec.name, title, profile: profile.name, selection, stages, instances } };
}

/** The same slip found at several points of an axis is one problem. */
function unique(problems: Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return problems.filter((problem) => {
    const key = JSON.stringify([problem.code, problem.message, problem.place?.line, problem.place?.column]);
    return !seen.has(key) && seen.add(key);
  });
}
