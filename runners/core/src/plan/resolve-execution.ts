// Resolves where and within which limits a stage instance runs: executor, network, resources, limits. Nothing of
// this but the image is in an action key, and all of it may come from the profile.
import type { ServiceSpec } from "@mlrb/formats/declared/pipeline";
import { checkImage } from "../spec/check-declared-file.ts";
import { poolSize } from "../spec/pool-size.ts";
import { didYouMean, suggest } from "../yaml/suggest.ts";
import type { Path } from "../yaml/yaml-source.ts";
import type { Execution, PlannedStage, ServiceExecution } from "./plan.ts";
import type { ResolveContext } from "./resolve-context.ts";
import type { StageTexts } from "./stage-texts.ts";

export function resolveExecution(
  { name, spec, each }: PlannedStage,
  texts: StageTexts,
  context: ResolveContext,
): Execution {
  const { executor, image: asked, network, startBy, resources, limits, slurm } = context.execution(name);
  const written = (...setting: string[]) => context.written(name, setting);
  const image = texts.text(asked, written("image"));
  const wait = (name: "providerWait" | "operatorWait") => {
    const { timeMs } = texts.duration(limits?.[name], written("limits", name));
    return timeMs === undefined ? {} : { [`${name}Ms`]: timeMs };
  };
  const unfit = image === undefined ? undefined : checkImage(image, context.sources);
  if (unfit) context.problems.push({ ...unfit, place: context.source.place(written("image")) });
  // a stage that is like another one may lack some of its axes
  const unlike = (axis: string) => spec.like !== undefined && context.axes.has(axis) && !each.includes(axis);
  const startAxes = (startBy === undefined ? [] : [startBy].flat()).filter((axis) => !unlike(axis));
  for (const axis of startAxes.filter((one) => !each.includes(one)))
    context.problems.push({
      code: "unknown-axis",
      message: `the stage has no axis "${axis}" to start by`,
      place: context.source.place(written("startBy")),
      help: didYouMean(axis, each),
    });
  if (spec.service) checkOwnSettings(name, context);
  const capped = resources?.gpuMemory !== undefined;
  if (capped && !(spec.untrusted && resources.gpus))
    context.problems.push({
      code: "useless-gpu-memory",
      message: `gpuMemory limits the programs of an untrusted stage that has GPUs; ${spec.untrusted ? "the stage has none" : "the stage is not untrusted"}`,
      place: context.source.place(written("resources", "gpuMemory")),
      help: spec.untrusted ? "add resources: { gpus: 1 }, or remove gpuMemory" : "remove gpuMemory",
    });
  return {
    executor: spec.service ? "local" : (executor ?? "local"),
    ...(image !== undefined && image !== "host" && !spec.service && { image }),
    ...(spec.service ? { network: "full" as const } : network !== undefined && { network }),
    ...(startAxes.length > 0 && { startBy: startAxes }),
    ...(slurm && { slurm }),
    ...(texts.truth(spec.needsCheck, ["stages", name, "needsCheck"]) && { needsCheck: true as const }),
    resources: {
      cpus: resources?.cpus ?? 1,
      memoryBytes: texts.size(resources?.memory, written("resources", "memory")),
      gpus: resources?.gpus ?? 0,
      ...(capped && { gpuMemoryBytes: texts.size(resources.gpuMemory, written("resources", "gpuMemory")) }),
      pools: poolWants(name, { wants: resources?.pools ?? {}, texts, context }),
    },
    limits: {
      ...texts.duration(spec.service ? undefined : (limits?.time ?? undefined), written("limits", "time")),
      ...(limits?.memory !== undefined && {
        memoryBytes: texts.size(limits.memory, written("limits", "memory")),
      }),
      ...(limits?.processes !== undefined && { processes: limits.processes }),
      ...wait("providerWait"),
      ...wait("operatorWait"),
      ...(limits?.disk !== undefined && { diskBytes: texts.size(limits.disk, written("limits", "disk")) }),
    },
    ...(texts.truth(spec.programs, ["stages", name, "programs"]) && { programs: true as const }),
    retries: spec.retries ?? 0,
    ...(spec.service && { service: serviceExecution(name, spec.service, texts) }),
  };
}

/** What defaults and a profile say of all stages does not hold for a service. Reports what is said of it by its name. */
function checkOwnSettings(name: string, { execution, written, source, problems }: ResolveContext): void {
  const { executor, image, network, limits } = execution(name);
  const set = {
    executor: executor === "local" ? undefined : executor,
    ...{ image, network },
    "limits.time": limits?.time,
  };
  for (const [setting, value] of Object.entries(set)) {
    const path = written(name, setting.split("."));
    if (value === undefined || value === null || !path.includes("stages")) continue;
    problems.push({
      code: "service-setting",
      message: `${setting} cannot be set for the service "${name}"`,
      place: source.place(path, "key"),
      help: "a service runs for as long as it is used, on the host of the runner with its network: remove the setting",
    });
  }
}

function serviceExecution(name: string, service: ServiceSpec, texts: StageTexts): ServiceExecution {
  const { timeMs } = texts.duration(service.ready ?? "10m", ["stages", name, "service", "ready"]);
  return {
    health: service.health ?? "/health",
    readyMs: timeMs ?? 0,
    restartsMax: service.restarts ?? 3,
  };
}

/**
 * The amount that a stage takes of each pool. An empty pool name takes nothing: the agent calls no provider. A
 * list in a name stands for a pool per value: an agent that calls several providers takes from the pool of each.
 */
function poolWants(
  stage: string,
  { wants, texts, context }: { wants: Record<string, number>; texts: StageTexts; context: ResolveContext },
): Record<string, number> {
  const { pools, source, problems } = context;
  const taken = new Map<string, { written: string; amount: number }>();
  const take = (pool: string, { written, amount, path }: { written: string; amount: number; path: Path }) => {
    if (pools === undefined) return;
    const size = poolSize(pools, pool);
    const twin = taken.get(pool);
    if (size === undefined) {
      problems.push({
        code: "unknown-pool",
        message: `no pool named "${pool}"`,
        place: source.place(path, "key"),
        help: poolHelp(pool, Object.keys(pools)),
      });
    } else if (twin) {
      problems.push({
        code: "duplicate",
        message: `"${twin.written}" and "${written}" are both the pool "${pool}"`,
        place: source.place(path, "key"),
        help: "give one amount for this pool",
      });
    } else if (amount > size) {
      problems.push({
        code: "over-pool",
        message: `the stage takes ${amount} of the pool "${pool}", which has ${size}`,
        place: source.place(path),
        help: `take ${size} at most, or enlarge it: pools: { "${pool}": ${amount} }`,
      });
    } else taken.set(pool, { written, amount });
  };
  for (const [written, amount] of Object.entries(wants)) {
    const path = context.written(stage, ["resources", "pools", written]);
    for (const pool of texts.keys(written, path)) take(pool, { written, amount, path });
  }
  return Object.fromEntries([...taken].flatMap(([pool, { amount }]) => (amount > 0 ? [[pool, amount]] : [])));
}

function poolHelp(pool: string, known: string[]): string {
  if (suggest(pool, known) !== undefined) return didYouMean(pool, known);
  const declare = `declare its size: pools: { "${pool}": 4 }`;
  return known.length === 0 ? declare : `${didYouMean(pool, known)}; or ${declare}`;
}
