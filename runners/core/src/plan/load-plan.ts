// From a pipeline's text to a plan, or to everything that is wrong with it. The one door: run, plan,
// check and watch all come through here, so they cannot disagree on what is valid.

import { agentPreset } from "@mlrb/formats/declared/agent-preset";
import { type PipelineSpec, pipelineSpec } from "@mlrb/formats/declared/pipeline";
import { scorerManifest } from "@mlrb/formats/declared/scorer";
import { taskManifest } from "@mlrb/formats/declared/task";
import { extendPipeline } from "../spec/extend-pipeline.ts";
import type { Sources } from "../spec/manifest.ts";
import { poolsTaken } from "../spec/pool-size.ts";
import { shapeProblems } from "../yaml/check-shape.ts";
import { type Diagnostic, distinctDiagnostics, type Place, sortDiagnostics } from "../yaml/diagnostic.ts";
import { pruneShape } from "../yaml/prune-shape.ts";
import { didYouMean } from "../yaml/suggest.ts";
import { parseYaml, type YamlSource } from "../yaml/yaml-source.ts";
import { checkCount } from "./count-instances.ts";
import { checkActions, expand } from "./expand.ts";
import { environmentStage, type Instance, type Plan, type PlannedStage } from "./plan.ts";
import { planStages } from "./plan-stages.ts";
import { resolveAxes, type Selection } from "./resolve-axes.ts";
import type { ResolveContext } from "./resolve-context.ts";
import { executionOf, type ResolvedProfile, resolveProfile, whereWritten } from "./resolve-profile.ts";

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
  const { file } = request;
  // a value said twice is said once: it would be another name of the same plan
  const set = Object.fromEntries(
    Object.entries(request.set ?? {}).map(([axis, values]) => [axis, [...new Set(values)]]),
  );
  const text = sources.read(file);
  if (text === undefined)
    return { problems: [{ code: "unknown-file", message: `there is no file ${file}` }] };
  const written = parseYaml(file, text);
  const source = Array.isArray(written) ? written : extendPipeline(written, sources);
  if (Array.isArray(source)) return { problems: sortDiagnostics(source) };
  const shape = shapeProblems(source, pipelineSpec);
  const problems = [...source.problems, ...shape.map(({ problem }) => problem)];
  const pruned = pruneShape(source.value, shape);
  const refused = () => ({ problems: sortDiagnostics(distinctDiagnostics(problems)) });
  if (!pruned) return refused();
  const { spec, unclear, touched } = pruned;

  if (!unclear("name")) problems.push(...checkName(spec, source));
  const { profile, problems: ofProfile } = resolveProfile(spec, source, request.profile);
  problems.push(...ofProfile, ...checkExecutors(spec, source, { profile, request, executors }));
  const paramsKnown =
    ofProfile.length === 0 &&
    !touched("params") &&
    !profile.chain.some((name) => touched("profiles", name, "params"));
  const {
    axes,
    manifests,
    problems: ofAxes,
  } = resolveAxes(spec, source, profile, { sources, set, unclear, paramsKnown });
  // an axis that could not be resolved is still declared: do not report it as unknown a second time
  for (const name of Object.keys(profile.axes)) if (!axes.has(name)) axes.set(name, { name, values: [] });
  problems.push(...ofAxes);
  const planned = planStages(spec, { source, axes, unclear });
  problems.push(...planned.problems);
  const { stages } = planned;
  const tooMany = checkCount(stages, { axes, source });
  if (tooMany) {
    problems.push(tooMany);
    return refused();
  }

  const title = spec.title ?? spec.name;
  const poolsUnclear =
    ofProfile.length > 0 ||
    touched("pools") ||
    profile.chain.some((name) => touched("profiles", name, "pools"));
  const context: ResolveContext = {
    source,
    sources,
    axes,
    manifests,
    manifestFields: {
      task: Object.keys(taskManifest.properties),
      scorer: Object.keys(scorerManifest.properties),
      agent: [...Object.keys(agentPreset.properties), "preset"],
    },
    params: profile.params,
    pools: poolsUnclear ? undefined : profile.pools,
    pipeline: { name: spec.name, title },
    execution: (name) => executionOf(spec, profile, name),
    written: (stage, setting) => whereWritten(spec, profile, { stage, setting }),
    problems,
  };
  if (problems.length > 0) {
    // what a broken profile would have set is not known; nor what fans out over an axis that is not
    const told =
      ofProfile.length > 0 ||
      unclear("params") ||
      unclear("axes") ||
      [...profile.chain, "default"].some((name) =>
        ["params", "axes"].some((key) => unclear("profiles", name, key)),
      );
    const isSound = (stage: PlannedStage) =>
      !told &&
      !touched("stages", stage.name) &&
      stage.each.every((axis) => axes.has(axis) && !touched("axes", axis));
    checkActions(stages.filter(isSound), context);
    // of the others, only what does not hang on a name that may be there once the first slip is mended
    const doubtful: Diagnostic[] = [];
    const known = (stage: PlannedStage) => ({ ...stage, each: stage.each.filter((axis) => axes.has(axis)) });
    const others = stages.filter((stage) => !isSound(stage)).map(known);
    checkActions(others, { ...context, problems: doubtful });
    problems.push(...doubtful.filter(({ code }) => code !== "unknown-placeholder"));
    return refused();
  }
  const instances = expand(stages, context);
  if (problems.length > 0) return refused();
  const selection = Object.entries(set)
    .map(([axis, values]) => `${axis}=${values.join("+")}`)
    .sort()
    .join(",");
  const placed = request.executor === undefined ? instances : sentTo(request.executor, instances);
  return {
    plan: {
      pipeline: spec.name,
      title,
      profile: profile.name,
      profiles: Object.keys(spec.profiles ?? {}),
      pools: poolsTaken(
        profile.pools,
        placed.map(({ execution }) => execution.resources),
      ),
      selection,
      onStale: profile.onStale,
      stages,
      instances: placed,
    },
  };
}

/** `--executor` moves everything but the environments, which are built where the runner is. */
function sentTo(executor: string, instances: Instance[]): Instance[] {
  return instances.map((instance) =>
    instance.stage.name === environmentStage
      ? instance
      : { ...instance, execution: { ...instance.execution, executor } },
  );
}

function checkName(spec: PipelineSpec, source: YamlSource): Diagnostic[] {
  const name = source.file
    .split("/")
    .at(-1)!
    .replace(/\.[^.]*$/, "");
  if (spec.name === undefined || spec.name === name) return [];
  const message = `the pipeline is called "${spec.name}", and its file "${name}"`;
  const help = "the two must be the same: results are laid out under the name";
  return [{ code: "name-differs", message, place: source.place(["name"]), help }];
}

/** Executors that this program does not have, where they are written: on the command line, in the profile, at a stage. */
function checkExecutors(
  spec: PipelineSpec,
  source: YamlSource,
  context: { profile: ResolvedProfile; request: PlanRequest; executors: string[] },
): Diagnostic[] {
  const { profile, request, executors } = context;
  const problem = (executor: string, place?: Place): Diagnostic => ({
    code: "unknown-executor",
    message: `no executor named "${executor}"`,
    ...(place && { place }),
    help: didYouMean(executor, executors),
  });
  if (request.executor !== undefined)
    return executors.includes(request.executor) ? [] : [problem(request.executor)];
  return Object.keys(spec.stages).flatMap((stage) => {
    const { executor } = executionOf(spec, profile, stage);
    if (executor === undefined || executors.includes(executor)) return [];
    return [problem(executor, source.place(whereWritten(spec, profile, { stage, setting: ["executor"] })))];
  });
}
