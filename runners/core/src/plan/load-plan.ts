// Turns a pipeline's text into a plan, or into all its problems. run, plan, check and watch all use this function,
// so they cannot disagree on what is valid.

import { parse } from "node:path/posix";
import { type ExecutionSpec, type PipelineSpec, pipelineSpec } from "@mlrb/formats/declared/pipeline";
import { parseDuration } from "@mlrb/kit/parse-duration";
import { extendPipeline } from "../spec/extend-pipeline.ts";
import type { Sources } from "../spec/manifest.ts";
import { poolsTaken } from "../spec/pool-size.ts";
import { shapeProblems } from "../yaml/check-shape.ts";
import { type Diagnostic, distinctDiagnostics, type Place, sortDiagnostics } from "../yaml/diagnostic.ts";
import { type Pruned, pruneShape } from "../yaml/prune-shape.ts";
import { didYouMean } from "../yaml/suggest.ts";
import { type Path, parseYaml, type YamlSource } from "../yaml/yaml-source.ts";
import { checkAllowances } from "./allowances.ts";
import { checkCount } from "./count-instances.ts";
import { checkActions, expand } from "./expand.ts";
import { checkConditions, checkGateways } from "./gateways.ts";
import { environmentStage, type Instance, type Plan, type PlannedStage } from "./plan.ts";
import { planStages } from "./plan-stages.ts";
import { resolveAxes, type Selection } from "./resolve-axes.ts";
import type { ResolveContext } from "./resolve-context.ts";
import { executionOf, type ResolvedProfile, resolveProfile, whereWritten } from "./resolve-profile.ts";
import { checkReach } from "./service-reach.ts";
import { setLevels } from "./set-level.ts";
import { setJudges, setModel } from "./set-model.ts";

export type PlanRequest = {
  /** Path of the pipeline's file, relative to the repository's root. */
  file: string;
  profile?: string | undefined;
  set?: Selection;
  /** `--executor`: where everything that is not bound elsewhere runs. */
  executor?: string | undefined;
  /** `--skip-reference-models`: leaves out the stages that others start after. */
  skipChecks?: boolean | undefined;
};

export type PlanResult = { plan: Plan } | { problems: Diagnostic[] };

/** `executors` are the names that the program can send stages to. */
export function loadPlan(request: PlanRequest, sources: Sources, executors: string[]): PlanResult {
  const source = readPipeline(request.file, sources);
  if (Array.isArray(source)) return refused(source);
  const shape = shapeProblems(source, pipelineSpec);
  const problems = [...source.problems, ...shape.map(({ problem }) => problem)];
  const pruned = pruneShape(source.value, shape);
  if (!pruned) return refused(problems);
  const { spec, unclear, touched } = pruned;

  if (!unclear("name")) problems.push(...checkName(spec, source));
  const { profile: written, problems: ofProfile } = resolveProfile(spec, source, request.profile);
  const levelled = setLevels(spec, written, { set: distinctValues(request.set ?? {}), sources });
  const profile = { ...written, axes: levelled.axes };
  problems.push(
    ...levelled.problems,
    ...ofProfile,
    ...checkExecutors(spec, source, { profile, request, executors }),
  );
  const isKnown = (key: "params" | "pools") =>
    ofProfile.length === 0 && !touched(key) && !profile.chain.some((name) => touched("profiles", name, key));
  const profileAxes = Object.fromEntries(
    Object.entries(profile.axes).map(([name, { spec }]) => [name, spec]),
  );
  const wanted = setJudges(levelled.set, sources);
  const { set, problems: ofModel } = setModel(wanted.set, profileAxes);
  problems.push(...wanted.problems, ...ofModel);
  const paramsKnown = isKnown("params");
  const resolved = resolveAxes(spec, { source, profile, sources, set, unclear, paramsKnown });
  const { axes, manifests } = resolved;
  // an axis that could not be resolved is still declared: it is not reported as unknown a second time
  for (const name of Object.keys(profile.axes)) if (!axes.has(name)) axes.set(name, { name, values: [] });
  const { stages, problems: ofStages } = planStages(spec, { source, axes, unclear });
  problems.push(...resolved.problems, ...ofStages);
  problems.push(
    ...checkAllowances(spec, manifests.has("agent") ? axes.get("agent") : undefined, { profile, source }),
  );
  const tooMany = checkCount(stages, { axes, source });
  if (tooMany) return refused([...problems, tooMany]);

  const title = spec.title ?? spec.name;
  const context: ResolveContext = {
    source,
    sources,
    axes,
    manifests,
    allowances: spec.allowances ?? {},
    params: profile.params,
    pools: isKnown("pools") ? profile.pools : undefined,
    pipeline: { name: spec.name, title },
    services: new Map(
      Object.entries(spec.stages).flatMap(([name, { service }]) =>
        service ? [[name, service.for ?? []] as const] : [],
      ),
    ),
    skipChecks: request.skipChecks ?? false,
    ...settingsOf(spec, profile),
    problems,
  };
  if (problems.length > 0) {
    checkWhatIsKnown(stages, context, { pruned, profile, profileKnown: ofProfile.length === 0 });
    return refused(problems);
  }
  checkGateways(stages, context);
  checkConditions(stages, context);
  const instances = sentTo(request.executor, expand(stages, context));
  checkReach(instances, context);
  if (problems.length > 0) return refused(problems);
  const resources = instances.map(({ execution }) => execution.resources);
  const reported = spec.profiles?.[profile.name]?.reported;
  return {
    plan: {
      pipeline: spec.name,
      title,
      profile: profile.name,
      profiles: Object.keys(spec.profiles ?? {}),
      pools: poolsTaken(profile.pools, resources),
      selection: selectionText({ ...set, ...levelled.asked }),
      onStale: profile.onStale,
      weakLimits: profile.weakLimits,
      diagnose: profile.diagnose,
      takesMs: Object.fromEntries(
        Object.entries(profile.takes).map(([stage, text]) => [stage, parseDuration(text)!]),
      ),
      ...(reported && { reported }),
      stages,
      instances,
    },
  };
}

/** Every instance asks for the same few settings of its stage. */
function settingsOf(
  spec: PipelineSpec,
  profile: ResolvedProfile,
): Pick<ResolveContext, "execution" | "written"> {
  const executions = new Map<string, ExecutionSpec>();
  const paths = new Map<string, Path>();
  return {
    execution: (name) => executions.getOrInsertComputed(name, () => executionOf(spec, profile, name)),
    written: (stage, setting) =>
      paths.getOrInsertComputed([stage, ...setting].join("\n"), () =>
        whereWritten(spec, profile, { stage, setting }),
      ),
  };
}

function refused(problems: Diagnostic[]): PlanResult {
  return { problems: sortDiagnostics(distinctDiagnostics(problems)) };
}

/** The pipeline with what it takes over from others. */
function readPipeline(file: string, sources: Sources): YamlSource | Diagnostic[] {
  const text = sources.read(file);
  if (text === undefined) return [{ code: "unknown-file", message: `there is no file ${file}` }];
  const written = parseYaml(file, text);
  return Array.isArray(written) ? written : extendPipeline(written, sources);
}

/** A repeated value of `--set` would give the same plan another name. */
function distinctValues(set: Selection): Selection {
  return Object.fromEntries(Object.entries(set).map(([axis, values]) => [axis, [...new Set(values)]]));
}

function selectionText(set: Selection): string {
  return (
    Object.entries(set)
      // an agent's own + is another sign: two agents never read like one with an allowance
      .map(([axis, values]) => `${axis}=${values.map((one) => one.replaceAll("+", "%")).join("+")}`)
      .sort()
      .join(",")
  );
}

/** Adds the problems of stages' texts to `context.problems`, except those that may only follow from earlier ones. */
function checkWhatIsKnown(
  stages: PlannedStage[],
  context: ResolveContext,
  { pruned, profile, profileKnown }: { pruned: Pruned; profile: ResolvedProfile; profileKnown: boolean },
): void {
  const { unclear, touched } = pruned;
  const { axes, problems } = context;
  const settingsKnown =
    profileKnown &&
    ["params", "axes"].every(
      (key) => !unclear(key) && ![...profile.chain, "default"].some((name) => unclear("profiles", name, key)),
    );
  const isSound = (stage: PlannedStage) =>
    settingsKnown &&
    !touched("stages", stage.name) &&
    stage.each.every((axis) => axes.has(axis) && !touched("axes", axis));
  checkActions(stages.filter(isSound), context);
  if (stages.every(isSound)) {
    checkGateways(stages, context);
    checkConditions(stages, context);
  }
  // in the other stages a name may be unknown only because of a problem found before
  const doubtful: Diagnostic[] = [];
  const known = (stage: PlannedStage) => ({ ...stage, each: stage.each.filter((axis) => axes.has(axis)) });
  const others = stages.filter((stage) => !isSound(stage)).map(known);
  checkActions(others, { ...context, problems: doubtful });
  problems.push(...doubtful.filter(({ code }) => code !== "unknown-placeholder"));
}

/** `--executor` moves everything but environments and services, which are where the runner is. */
function sentTo(executor: string | undefined, instances: Instance[]): Instance[] {
  if (executor === undefined) return instances;
  return instances.map((instance) =>
    instance.stage.name === environmentStage || instance.stage.spec.service
      ? instance
      : { ...instance, execution: { ...instance.execution, executor } },
  );
}

function checkName(spec: PipelineSpec, source: YamlSource): Diagnostic[] {
  const { name } = parse(source.file);
  if (spec.name === undefined || spec.name === name) return [];
  const message = `the pipeline is called "${spec.name}", but its file "${name}"`;
  const help = "rename one of the two: the results folder has this name";
  return [{ code: "name-differs", message, place: source.place(["name"]), help }];
}

/** Reports unknown executors where they are written: on the command line, in the profile or at a stage. */
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
