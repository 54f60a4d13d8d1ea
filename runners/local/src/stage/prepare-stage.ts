// Prepares a stage's work folder: inputs, output folders and context.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { totalmem } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { environmentStage, type Instance } from "@mlrb/core/plan/plan";
import { runsHere } from "@mlrb/core/plan/runs-here";
import type { Booked, ExecutionRequest, HostEnvironment } from "@mlrb/core/ports/executor";
import type { Permissions } from "@mlrb/core/ports/permissions";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import type { SandboxRequest } from "@mlrb/formats/stage/stage-context";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { canonicalJson } from "@mlrb/kit/json-file";
import { handOverAnswersPurse } from "../attempts/attempt-purse.ts";
import type { Bound } from "../decide/bind-inputs.ts";
import { compiledFolder, compiledImports } from "../process/compiled-code.ts";
import { clearEnvironment, environmentPython } from "../process/environments.ts";
import { forkPreload } from "../process/fork-preload.ts";
import type { CarryOutContext, SharedContext } from "../run/carried-out.ts";
import { MissingContent } from "../store/artifact-store.ts";
import { materialize } from "../store/materialize-inputs.ts";
import { overwrite } from "../store/overwrite-file.ts";
import type { Workspace } from "../store/workspace.ts";
import { outputPaths } from "./output-paths.ts";
import { secretSeed } from "./secret-seed.ts";
import { stageContext } from "./stage-context.ts";
import {
  foldersBeside,
  interpreterOf,
  recordedReads,
  recorder,
  stagePermissions,
} from "./stage-permissions.ts";
import { stageVariables } from "./stage-variables.ts";
import { diskMax, processesMax, stageWalls } from "./stage-walls.ts";

export type Working = Omit<SharedContext, "clearSandbox" | "slots"> &
  Pick<CarryOutContext, "executor" | "token" | "gpus" | "services"> & { work: string };

/** An input of the stage is missing from the store, or was damaged there. */
export class LostInput extends Error {}

/** Throws LostInput. */
export async function prepareStage(
  instance: Instance,
  bound: Bound,
  context: Working,
): Promise<ExecutionRequest> {
  const { workspace, work } = context;
  const { stage, action } = instance;
  const { inputs, linked } = await materializeInputs(instance, bound, context);
  const outputs = prepareOutputs(instance, bound, work);
  const beside = foldersBeside(instance, bound, workspace);
  for (const folder of beside.writes) mkdirSync(folder, { recursive: true });
  handOverAnswersPurse(instance, context);
  const preload = forkPreload(instance, { repository: workspace.repository, lock: bound.environment?.lock });
  const permissions = stagePermissions(instance, bound, context);
  const recorded = recordedReads(instance, bound, context);
  if (recorded) overwrite(join(work, "recorder.json"), canonicalJson(recorded));
  const walls = stageWalls(instance, bound, context);
  const limits = outerLimits(instance);
  const stageFile = join(work, "stage.json");
  overwrite(
    stageFile,
    canonicalJson(
      stageContext(instance, bound, {
        inputs,
        outputs,
        ...(context.services && { services: context.services }),
        ...(walls && { limits: { memoryBytes: walls.limits.memoryBytes, ...limits } }),
        ...(stage.untrusted && { sandbox: sandboxAsked(instance, bound, context, beside.reads) }),
        ...(stage.spec.secretSeed && { secretSeed: secretSeed(workspace.state.state, bound.key) }),
      }),
    ),
  );
  const variables = stageVariables(instance, bound, { ...context, stageFile });
  const { run } = action;
  const compiled =
    walls && permissions && run.kind === "script" && runsHere(instance)
      ? await compiledImports(
          {
            root: workspace.repository,
            file: run.file,
            sources: Object.keys(bound.codeFiles),
            guard: permissions.guard,
          },
          { folder: compiledFolder(workspace.state), work, uid: walls.user?.uid ?? process.getuid!() },
        )
      : undefined;
  return {
    id: instance.id,
    key: bound.key,
    token: context.token,
    run: action.run,
    root: workspace.repository,
    work,
    env: {
      ...variables,
      ...(compiled !== undefined && { NODE_COMPILE_CACHE: compiled }),
      ...(permissions && guardVariables(permissions, variables.PYTHONPATH!, work)),
      ...(recorded && { MLRB_RECORDER: join(work, "recorder.json") }),
    },
    ...(bound.environment && { python: environmentPython(bound.environment.path) }),
    inputs,
    outputs,
    ...(context.services && { services: context.services }),
    log: join(work, "log"),
    limits,
    ...(preload !== undefined && { preload }),
    ...(permissions && { permissions }),
    ...(walls && { walls }),
    ...(recorded && { recorder }),
    ...(linked && { readOnly: join(work, "in") }),
    // an untrusted stage's network is for its sandbox; its supervisor may need to call a provider
    ...(instance.execution.network && !stage.untrusted && { network: instance.execution.network }),
    ...(walls && { network: "none" }),
    ...beside,
    ...hostEnvironment(bound, workspace),
    ...(instance.execution.image !== undefined && { image: instance.execution.image }),
    cpus: instance.execution.resources.cpus,
    gpus: context.gpus?.gpus ?? [],
    ...(!runsHere(instance) && { booked: bookedOf(instance, bound) }),
  };
}

function bookedOf({ stage, execution }: Instance, bound: Bound): Booked {
  const { resources, slurm } = execution;
  const { gpus } = resources;
  const memoryBytes = Math.max(resources.memoryBytes, stage.untrusted ? sandboxMemory(execution) : 0);
  const { host } = bound.parts;
  return { memoryBytes, gpus, ...(host && { host }), ...(slurm && { slurm }) };
}

/** Paths by input name, and whether a file is linked to the store, so that its folder must be read-only. */
async function materializeInputs(
  { stage }: Instance,
  bound: Bound,
  { workspace, work, executor }: Working,
): Promise<{ inputs: Record<string, string>; linked: boolean }> {
  // files that an earlier stage left in this slot are overwritten where their names match
  const needs = stage.needs.filter(({ name }) => name in bound.inputs); // the others are of stages that are not planned
  const files = needs.filter(({ name }) => bound.inputs[name]!.kind === "file");
  for (const name of readdirSync(join(work, "in")))
    if (!files.some((need) => need.name === name)) removeFolder(join(work, "in", name));
  const inputs: Record<string, string> = {};
  const items: { artifact: Artifact; path: string }[] = [];
  for (const { name, stage, output } of needs) {
    const path = join(work, "in", name);
    items.push({ artifact: bound.inputs[name]!, path });
    inputs[name] = inputs[`${stage}.${output}`] = path;
  }
  if (bound.manifest) {
    const folder = join(work, "in", "collected");
    mkdirSync(folder, { recursive: true });
    inputs.manifest = join(folder, "manifest.json");
    writeFileSync(inputs.manifest, canonicalJson(bound.manifest, 2));
    for (const { artifacts } of bound.manifest.members) {
      for (const { path, kind, digest } of Object.values(artifacts))
        if (path !== undefined) items.push({ artifact: { kind, digest }, path: join(folder, path) }); // else only its digest
    }
    for (const above of new Set(items.map(({ path }) => dirname(path))))
      mkdirSync(above, { recursive: true });
  }
  const linked = await materialize(items, {
    ...workspace,
    // an untrusted program gets copies: one that may mount may also undo a read-only mount
    link: async () => !stage.untrusted && ((await executor.mountsReadOnly?.()) ?? false),
  }).catch((error: unknown) => {
    throw error instanceof MissingContent ? new LostInput(error.message) : error;
  });
  return { inputs, linked };
}

/** Makes the folders that the stage writes in; returns paths by output name. */
function prepareOutputs({ stage }: Instance, { environment }: Bound, work: string): Record<string, string> {
  const outputs = outputPaths(work, stage.gives);
  for (const { name, kind } of stage.gives) {
    const path = outputs[name]!;
    // they are there in the folder of an attempt that continues
    if (dirname(path) !== join(work, "out")) mkdirSync(dirname(path), { recursive: true });
    if (kind === "dir") mkdirSync(path, { recursive: true });
  }
  if (stage.name === environmentStage) {
    clearEnvironment(environment!.path);
    outputs.environment = environment!.path;
  }
  return outputs;
}

/** Passes the permissions of the script to the guard in its process, or the path where the recorder notes reads. */
function guardVariables(permissions: Permissions, pythonPath: string, work: string): Record<string, string> {
  const { guard, refusals } = permissions;
  if (guard.endsWith(".ts")) return { MLRB_REFUSALS: refusals };
  const file = join(work, "permissions.json");
  overwrite(file, canonicalJson(permissions));
  return { MLRB_PERMISSIONS: file, PYTHONPATH: [guard, pythonPath].join(delimiter) };
}

/** A sandbox limits memory itself: its agent's memory use is the agent's responsibility. */
function outerLimits({ stage, execution }: Instance): ExecutionRequest["limits"] {
  const { timeMs, memoryBytes } = execution.limits;
  return {
    ...(timeMs !== undefined && { timeMs }),
    ...(memoryBytes !== undefined && !stage.untrusted && { memoryBytes }),
  };
}

function sandboxMemory({ limits, resources }: Instance["execution"]): number {
  return limits.memoryBytes ?? (resources.memoryBytes || Math.floor(0.9 * totalmem()));
}

function sandboxAsked(
  { execution }: Instance,
  bound: Bound,
  context: Working,
  reads: string[],
): SandboxRequest {
  const { executor, image, network, limits, resources } = execution;
  return {
    executor,
    ...(image !== undefined && { image }),
    ...hostEnvironment(bound, context.workspace),
    network: network ?? "none", // an untrusted program has no network by default
    limits: {
      memoryBytes: sandboxMemory(execution),
      processes: limits.processes ?? processesMax,
      diskBytes: limits.diskBytes ?? diskMax(context.work),
      cpus: resources.cpus,
      ...(resources.gpuMemoryBytes !== undefined && { gpuMemoryBytes: resources.gpuMemoryBytes }),
    },
    reads,
    gpus: [...(context.gpus?.gpus ?? [])],
    unsafe: context.unsafeLocal,
    ...(context.weakLimits && { weakLimits: true }),
    token: context.token,
  };
}

/** The environment in which the stage runs, if any. */
function hostEnvironment({ environment }: Bound, { digests }: Workspace): { environment?: HostEnvironment } {
  if (!environment) return {};
  const { path, lock } = environment;
  const interpreter = interpreterOf(path);
  const more = interpreter === undefined ? {} : { interpreter };
  return { environment: { path, ...more, lock: digests.of(lock) } };
}
