// Carries one stage instance out: lays its inputs out, has an executor run it, takes its outputs into
// the store once its whole process tree is dead, and records it. Nothing is recorded of a failure.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { ExecutionRequest, ExecutionResult, Executor, Running } from "@mlrb/core/executor";
import type { FailureCause } from "@mlrb/core/outcome";
import { environmentStage, type Instance } from "@mlrb/core/plan";
import { canonicalJson } from "@mlrb/kit/json-file";
import { type AttemptRecord, DamagedRecord, type HeldRecord } from "./attempt-records.ts";
import type { Bound } from "./bind.ts";
import { clearEnvironment, environmentPython, markReady } from "./environments.ts";
import { findPython } from "./find-python.ts";
import { machineHelp } from "./machine-help.ts";
import { removeFolder } from "./remove-folder.ts";
import { type Artifact, MissingContent } from "./store.ts";
import type { Workspace } from "./workspace.ts";

export type CarriedOut =
  | { kind: "succeeded"; outputs: Record<string, Artifact>; durationMs: number; record?: HeldRecord }
  | { kind: "failed"; cause: FailureCause; detail: string }
  | { kind: "cancelled" };

export type CarryOutContext = {
  workspace: Workspace;
  executor: Executor;
  run: string;
  token: string;
  /** The instance's own folder for this run; removed at the end. */
  work: string;
  log: string;
  slot: { pipeline: string; profile: string };
  /** What each input is called where it comes from, for the record of a durable instance. */
  origins: { name: string; stage: string; output: string }[];
  /** Called once it runs, with the handle that can end it. */
  started: (running: Running) => void;
};

export async function carryOut(
  instance: Instance,
  bound: Bound,
  context: CarryOutContext,
): Promise<CarriedOut> {
  const { work, log } = context;
  const startedAt = new Date();
  const begin = performance.now();
  try {
    rmSync(log, { force: true }); // the executor makes it anew
    const request = prepare(instance, bound, context);
    const running = context.executor.start(request);
    context.started(running);
    const result: ExecutionResult = await running.ended;
    if (result.kind !== "succeeded") {
      if (instance.stage.name === environmentStage && result.kind === "cancelled")
        clearEnvironment(bound.environment!.path);
      return result;
    }
    const run = instance.action.run;
    if (
      run.kind === "script" &&
      !instance.stage.durable &&
      !(await context.workspace.codes.stillIs(run.file))
    ) {
      return { kind: "failed", cause: "code-changed", detail: `${run.file} changed while it ran; run again` };
    }
    const durationMs = Math.round(performance.now() - begin);
    return keep(instance, bound, { ...context, request, startedAt: startedAt.toISOString(), durationMs });
  } catch (error) {
    return machineFailure(error);
  } finally {
    try {
      removeFolder(work);
    } catch {
      // whatever keeps it from being removed does not change what the instance gave; the next run clears it
    }
  }
}

/** Makes the instance's folder and everything in it. */
function prepare(instance: Instance, bound: Bound, context: CarryOutContext): ExecutionRequest {
  const { workspace, work } = context;
  const { stage, action } = instance;
  removeFolder(work);
  for (const path of [work, join(work, "out"), join(work, "tmp")]) mkdirSync(path);
  if (stage.needs.length > 0 || bound.manifest) mkdirSync(join(work, "in"));

  const inputs: Record<string, string> = {};
  for (const need of stage.needs) {
    const path = join(work, "in", need.name);
    workspace.store.restore(bound.inputs[need.name]!, path);
    inputs[need.name] = path;
    inputs[`${need.stage}.${need.output}`] = path;
  }
  if (bound.manifest) {
    const folder = join(work, "in", "collected");
    mkdirSync(folder);
    inputs.manifest = join(folder, "manifest.json");
    writeFileSync(inputs.manifest, canonicalJson(bound.manifest, 2));
    for (const { artifacts } of bound.manifest.members) {
      for (const { path, kind, digest } of Object.values(artifacts)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        workspace.store.restore({ kind, digest }, join(folder, path));
      }
    }
  }
  const outputs: Record<string, string> = {};
  for (const { name, file, kind } of stage.gives) {
    // two outputs of one file name stand in folders of their own
    const shared = stage.gives.some((other) => other.name !== name && other.file === file);
    outputs[name] = shared ? join(work, "out", name, file) : join(work, "out", file);
    if (shared) mkdirSync(dirname(outputs[name]));
    if (kind === "dir") mkdirSync(outputs[name]);
  }
  if (stage.name === environmentStage) {
    clearEnvironment(bound.environment!.path);
    outputs.environment = bound.environment!.path;
  }
  const stageFile = join(work, "stage.json");
  writeFileSync(
    stageFile,
    canonicalJson({
      formatVersion: 1,
      stage: instance.id,
      axes: bound.parts.axes,
      params: action.params,
      inputs: Object.fromEntries(Object.entries(inputs).filter(([name]) => !name.includes("."))),
      outputs,
      files: action.files,
      budget: action.budget,
    }),
  );
  return {
    id: instance.id,
    token: context.token,
    run: action.run,
    root: workspace.repository,
    work,
    env: environmentVariables(instance, bound, { ...context, stageFile }),
    ...(bound.environment && { python: environmentPython(bound.environment.path) }),
    inputs,
    outputs,
    log: context.log,
    limits: instance.execution.limits,
  };
}

/** Only what is declared, and what any program needs; never the caller's whole environment. */
function environmentVariables(
  instance: Instance,
  bound: Bound,
  context: CarryOutContext & { stageFile: string },
): Record<string, string> {
  const { workspace, work, stageFile } = context;
  const { action, stage, execution } = instance;
  const python =
    bound.environment && stage.name !== environmentStage
      ? environmentPython(bound.environment.path)
      : undefined;
  const env: Record<string, string> = {
    PATH: [...(python ? [dirname(python)] : []), dirname(process.execPath), process.env.PATH ?? ""].join(
      delimiter,
    ),
    HOME: join(work, "tmp"),
    TMPDIR: join(work, "tmp"),
    LANG: "C.UTF-8",
    TZ: "UTC",
    NO_COLOR: "1",
    OMP_NUM_THREADS: String(Math.max(1, Math.floor(execution.resources.cpus))),
    PYTHONHASHSEED: "0",
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONUNBUFFERED: "1",
    PYTHONPATH: join(workspace.repository, "runners", "kit", "python"),
    NODE_COMPILE_CACHE: join(workspace.state.memory, "node"),
    MLRB_STAGE: stageFile,
    MLRB_WORK: work,
    ...(python && { MLRB_PYTHON: python, VIRTUAL_ENV: dirname(dirname(python)) }),
    ...action.env,
  };
  for (const name of action.secrets) if (process.env[name] !== undefined) env[name] = process.env[name]!;
  if (stage.name === environmentStage) {
    // the one stage that goes to the network does so in the user's way: proxies, certificates, caches
    for (const [name, value] of Object.entries(process.env)) {
      if (
        value !== undefined &&
        /^(PIP_|SSL_|REQUESTS_|CURL_CA|XDG_)|_proxy$|_PROXY$|^(HOME|MLRB_BASE_PYTHON)$/.test(name)
      )
        env[name] = value;
    }
    const base = findPython(workspace.state.memory);
    if (base) env.MLRB_BASE_PYTHON = base.path;
  }
  return env;
}

type Ended = CarryOutContext & { request: ExecutionRequest; startedAt: string; durationMs: number };

/** Takes the outputs in and records the action. */
function keep(instance: Instance, bound: Bound, ended: Ended): CarriedOut {
  const { workspace, request, durationMs, startedAt, run } = ended;
  const { stage } = instance;
  const ran = { run, startedAt, durationMs, executor: ended.executor.name, host: hostname() };
  if (stage.name === environmentStage) {
    if (!existsSync(environmentPython(bound.environment!.path))) {
      return { kind: "failed", cause: "missing-output", detail: "it made no environment" };
    }
    markReady(bound.environment!.path, bound.key);
    return { kind: "succeeded", outputs: {}, durationMs };
  }
  const cost = stage.durable ? costOf(instance, request, durationMs) : undefined;
  const outputs: Record<string, Artifact> = {};
  for (const { name, kind } of stage.gives) {
    const path = request.outputs[name]!;
    const found = existsSync(path) ? (statSync(path).isDirectory() ? "dir" : "file") : undefined;
    if (found !== kind) {
      const what = kind === "dir" ? "folder" : "file";
      const detail = found
        ? `output "${name}" is not a ${what}`
        : `it ended well and did not write its output "${name}"`;
      return { kind: "failed", cause: "missing-output", detail };
    }
    try {
      outputs[name] = workspace.store.put(path, kind, { move: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== undefined) throw error;
      return {
        kind: "failed",
        cause: "missing-output",
        detail: `output "${name}" ${(error as Error).message}`,
      };
    }
  }
  if (cost) {
    const files = new Map(stage.gives.map(({ name, file }) => [name, file]));
    const record: AttemptRecord = {
      formatVersion: 1,
      slot: { ...ended.slot, stage: instance.id },
      axes: instance.axes,
      attemptKey: bound.key,
      parts: bound.parts,
      given: ended.origins.map((origin) => ({ ...origin, ...bound.inputs[origin.name]! })),
      outputs: Object.fromEntries(
        Object.entries(outputs).map(([name, output]) => [name, { ...output, file: files.get(name)! }]),
      ),
      harness: bound.codeFiles,
      cost,
      ran,
    };
    return {
      kind: "succeeded",
      outputs,
      durationMs,
      record: { digest: workspace.attempts.put(record, ended.log), record },
    };
  }
  workspace.actions.put({
    formatVersion: 1,
    key: bound.key,
    parts: bound.parts,
    codeFiles: bound.codeFiles,
    outputs,
    ran: { ...ran, stage: instance.id },
  });
  return { kind: "succeeded", outputs, durationMs };
}

/** What a durable instance cost, by the ledger it gives; without one, by the devices it held. */
function costOf(instance: Instance, request: ExecutionRequest, durationMs: number): AttemptRecord["cost"] {
  const { gpus } = instance.execution.resources;
  const held = { gpuHours: (gpus * durationMs) / 3_600_000, dollars: null };
  const ledger = request.outputs.ledger;
  if (ledger === undefined) return held;
  try {
    const { gpuHours, dollars } = JSON.parse(readFileSync(ledger, "utf8")) as Record<string, unknown>;
    return {
      gpuHours: typeof gpuHours === "number" ? gpuHours : held.gpuHours,
      dollars: typeof dollars === "number" ? dollars : null,
    };
  } catch {
    return held;
  }
}

/** Trouble with the machine, with the way out where there is one. */
export function machineFailure(error: unknown): CarriedOut & { kind: "failed" } {
  if (error instanceof MissingContent) {
    return { kind: "failed", cause: "machine", detail: `${error.message}; run again to make it anew` };
  }
  if (error instanceof DamagedRecord) return { kind: "failed", cause: "machine", detail: error.message };
  const { code, message } = error as NodeJS.ErrnoException;
  const help = machineHelp(code);
  if (help !== undefined)
    return { kind: "failed", cause: "machine", detail: `${help} (${withoutPaths(message)})` };
  if (code !== undefined) return { kind: "failed", cause: "machine", detail: withoutPaths(message) };
  throw error; // a bug, not trouble with the machine
}

/** Causes reach reports, which are the same wherever they were made. */
function withoutPaths(message: string): string {
  return message.replace(/,? '[^']*'( -> '[^']*')?/g, "");
}
