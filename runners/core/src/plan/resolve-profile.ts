// Selects the profile of a run and overrides the pipeline with it: parents first, then the profile itself.

import type {
  AxisSpec,
  ExecutionSpec,
  PipelineSpec,
  PoolsSpec,
  ProfileSpec,
  ResourcesSpec,
} from "@mlrb/formats/declared/pipeline";
import type { Json } from "@mlrb/kit/stage";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import type { Path, YamlSource } from "../yaml/yaml-source.ts";
import { environmentStage } from "./plan.ts";

export type ResolvedProfile = {
  name: string;
  /** The profile and its ancestors, the furthest first. */
  chain: string[];
  axes: Record<string, { spec: AxisSpec; path: Path }>;
  params: Record<string, Json>;
  pools: PoolsSpec;
  execution: ExecutionSpec;
  stages: Record<string, ExecutionSpec>;
  onStale: "leave" | "rerun";
  weakLimits: boolean;
  diagnose: boolean;
  takes: Record<string, string>;
};

/**
 * The profile named `wanted`, or the pipeline's default profile, merged with its ancestors. With problems it is
 * the pipeline without a profile, so that the rest can still be checked.
 */
export function resolveProfile(
  spec: PipelineSpec,
  source: YamlSource,
  wanted: string | undefined,
): { profile: ResolvedProfile; problems: Diagnostic[] } {
  const profiles = spec.profiles ?? {};
  const names = Object.keys(profiles);
  const problems = checkProfiles(spec, source);
  const defaults = names.filter((name) => profiles[name]!.default);
  const name = wanted ?? defaults[0] ?? (names.length === 1 ? names[0] : undefined);
  if (
    wanted !== undefined &&
    !Object.hasOwn(profiles, wanted) &&
    !(names.length === 0 && wanted === "default")
  ) {
    const message = `${spec.name} has no profile "${wanted}"`;
    problems.push({ code: "unknown-profile", message, help: didYouMean(wanted, names) });
  }
  if (name === undefined && names.length > 1) {
    const message = `${spec.name} has several profiles and none is the default`;
    problems.push({ code: "no-profile", message, help: `choose with --profile: ${names.join(", ")}` });
  }

  const profile: ResolvedProfile = {
    name: name ?? "default",
    chain: [],
    axes: {},
    params: { ...spec.params },
    pools: { ...spec.pools },
    execution: {},
    stages: {},
    onStale: "leave",
    weakLimits: false,
    diagnose: false,
    takes: {},
  };
  for (const [axis, axisSpec] of Object.entries(spec.axes ?? {}))
    profile.axes[axis] = { spec: axisSpec, path: ["axes", axis] };
  if (problems.length > 0 || name === undefined || !Object.hasOwn(profiles, name))
    return { profile, problems };
  profile.chain = chain(profiles, name);
  for (const step of profile.chain) override(profile, profiles[step]!, step);
  profile.takes = profiles[name]!.takes ?? {};
  return { profile, problems };
}

function override(merged: ResolvedProfile, profile: ProfileSpec, name: string): void {
  for (const [axis, spec] of Object.entries(profile.axes ?? {})) {
    merged.axes[axis] = { spec, path: ["profiles", name, "axes", axis] };
  }
  Object.assign(merged.params, profile.params);
  Object.assign(merged.pools, profile.pools);
  merged.execution = mergeExecution(merged.execution, profile);
  merged.onStale = profile.onStale ?? merged.onStale;
  merged.diagnose = profile.diagnose ?? merged.diagnose;
  merged.weakLimits = profile.weakLimits ?? merged.weakLimits;
  for (const [stage, execution] of Object.entries(profile.stages ?? {})) {
    const under = Object.hasOwn(merged.stages, stage) ? merged.stages[stage]! : {};
    merged.stages[stage] = mergeExecution(under, execution);
  }
}

/**
 * The execution settings of `stage`. Later ones override earlier ones: the pipeline's defaults, the stage's own,
 * the profile's for all stages, the profile's for the stages that it is like, the profile's for this stage.
 */
export function executionOf(spec: PipelineSpec, profile: ResolvedProfile, stage: string): ExecutionSpec {
  const named = likes(spec, stage).map((name) =>
    Object.hasOwn(profile.stages, name) ? profile.stages[name]! : {},
  );
  return [spec.stages[stage] ?? {}, profile.execution, ...named.reverse()].reduce(
    mergeExecution,
    spec.defaults ?? {},
  );
}

/** `stage` and the stages that it is like. The chain was checked to be free of cycles. */
function likes(spec: PipelineSpec, stage: string): string[] {
  const like = Object.hasOwn(spec.stages, stage) ? spec.stages[stage]!.like : undefined;
  return [stage, ...(like === undefined ? [] : likes(spec, like))];
}

/** The path of the effective setting of `stage`, e.g. of `limits.time`. */
export function whereWritten(
  spec: PipelineSpec,
  profile: ResolvedProfile,
  at: { stage: string; setting: Path },
): Path {
  const nearest = [...profile.chain].reverse();
  const candidates: Path[] = [
    ...likes(spec, at.stage).flatMap((stage) => nearest.map((name) => ["profiles", name, "stages", stage])),
    ...nearest.map((name) => ["profiles", name]),
    ["stages", at.stage],
    ["defaults"],
  ];
  const holds = (path: Path) => {
    let value: unknown = spec;
    for (const step of path) {
      if (value === null || typeof value !== "object" || !Object.hasOwn(value, step)) return false;
      value = (value as Record<string, unknown>)[step];
    }
    return true;
  };
  const found = candidates.find((path) => holds([...path, ...at.setting]));
  return [...(found ?? ["stages", at.stage]), ...at.setting];
}

/** `over` overrides `under` field by field. */
function mergeExecution(under: ExecutionSpec, over: ExecutionSpec): ExecutionSpec {
  const { executor = under.executor, image = under.image, network = under.network } = over;
  const { startBy = under.startBy } = over;
  const hasResources = under.resources || over.resources;
  return {
    ...(executor !== undefined && { executor }),
    ...(image !== undefined && { image }),
    ...(network !== undefined && { network }),
    ...(startBy !== undefined && { startBy }),
    ...(hasResources && { resources: mergeResources(under.resources, over.resources) }),
    ...((under.budget || over.budget) && { budget: { ...under.budget, ...over.budget } }),
    ...((under.limits || over.limits) && { limits: { ...under.limits, ...over.limits } }),
    ...((under.slurm || over.slurm) && { slurm: { ...under.slurm, ...over.slurm } }),
  };
}

/** Pools are merged by name: an override of one leaves the others unchanged. */
function mergeResources(under: ResourcesSpec = {}, over: ResourcesSpec = {}): ResourcesSpec {
  const pools = under.pools || over.pools ? { pools: { ...under.pools, ...over.pools } } : {};
  return { ...under, ...over, ...pools };
}

/** From the furthest ancestor to the profile itself. The chain was checked to be free of cycles. */
function chain(profiles: Record<string, ProfileSpec>, name: string): string[] {
  const parent = profiles[name]!.extends;
  return [...(parent === undefined ? [] : chain(profiles, parent)), name];
}

function checkProfiles(spec: PipelineSpec, source: YamlSource): Diagnostic[] {
  const profiles = spec.profiles ?? {};
  const problems: Diagnostic[] = [];
  const defaults = Object.keys(profiles).filter((name) => profiles[name]!.default);
  for (const name of defaults.slice(1)) {
    const message = `"${name}" is a second default profile; "${defaults[0]}" is the first`;
    problems.push({
      code: "two-defaults",
      message,
      place: source.place(["profiles", name, "default"], "key"),
    });
  }
  for (const [name, profile] of Object.entries(profiles)) {
    const parent = profile.extends;
    if (parent !== undefined && !Object.hasOwn(profiles, parent)) {
      problems.push({
        code: "unknown-profile",
        message: `no profile named "${parent}"`,
        place: source.place(["profiles", name, "extends"]),
        help: didYouMean(
          parent,
          Object.keys(profiles).filter((other) => other !== name),
        ),
      });
    } else if (parent !== undefined && endlessFrom(profiles, name)) {
      const message = `profile "${name}" extends itself`;
      problems.push({ code: "profile-cycle", message, place: source.place(["profiles", name, "extends"]) });
    }
    for (const [table, what, known] of [
      ["stages", "stage", Object.keys(spec.stages)],
      ["axes", "axis", Object.keys(spec.axes ?? {})],
      ["takes", "stage", [environmentStage, ...Object.keys(spec.stages)]],
    ] as const) {
      for (const key of Object.keys(profile[table] ?? {})) {
        if (known.includes(key)) continue;
        const place = source.place(["profiles", name, table, key], "key");
        const message = `no ${what} named "${key}"`;
        problems.push({ code: `unknown-${what}`, message, place, help: didYouMean(key, known) });
      }
    }
  }
  return problems;
}

function endlessFrom(profiles: Record<string, ProfileSpec>, start: string): boolean {
  const seen = new Set<string>();
  const parentOf = (name: string) => (Object.hasOwn(profiles, name) ? profiles[name]!.extends : undefined);
  for (let name: string | undefined = start; name !== undefined; name = parentOf(name)) {
    if (seen.has(name)) return true;
    seen.add(name);
  }
  return false;
}
