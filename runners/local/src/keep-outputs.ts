// Takes what a stage gave into the store, once nothing of it runs any more, and records the action.
import { existsSync, readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";
import type { ExecutionRequest } from "@mlrb/core/executor";
import { environmentStage, type Instance } from "@mlrb/core/plan";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { AttemptRecord } from "./attempt-records.ts";
import type { Bound } from "./bind.ts";
import type { CarriedOut, CarryOutContext } from "./carried-out.ts";
import { environmentPython, markReady } from "./environments.ts";
import type { Store } from "./store.ts";
import { takeAllIn } from "./take-in.ts";

type Ended = CarryOutContext & { request: ExecutionRequest; startedAt: string; durationMs: number };

export async function keepOutputs(instance: Instance, bound: Bound, ended: Ended): Promise<CarriedOut> {
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
  for (const { name, kind } of stage.gives) {
    const stats = statSync(request.outputs[name]!, { throwIfNoEntry: false });
    const found = stats && (stats.isDirectory() ? "dir" : "file");
    if (found === kind) continue;
    const what = kind === "dir" ? "folder" : "file";
    const detail = found
      ? `output "${name}" is not a ${what}`
      : `it ended well and did not write its output "${name}"`;
    return { kind: "failed", cause: "missing-output", detail };
  }
  const given = stage.gives.map(({ name, kind }) => ({ name, kind, path: request.outputs[name]! }));
  const taken = await takeAllIn(given, workspace);
  if ("problem" in taken) {
    const detail = `output "${taken.name}" ${taken.problem}`;
    return { kind: "failed", cause: "missing-output", detail };
  }
  const { outputs } = taken;
  if (cost) {
    if (!ended.isHeld()) {
      const detail = "another run took it over while this one was silent; run again to use what that made";
      return { kind: "failed", cause: "machine", detail };
    }
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
      ...(ended.estimate && { estimate: ended.estimate }),
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
    codeFiles: codeFilesIn(workspace.store, bound.codeFiles),
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

/** All actions of a script share one object, and so one text. */
const kept = new WeakMap<object, { store: Store; digest: string }>();

function codeFilesIn(store: Store, codeFiles: Record<string, string>): string {
  const held = kept.get(codeFiles);
  if (held?.store === store) return held.digest;
  const digest = store.putText(canonicalJson(codeFiles));
  kept.set(codeFiles, { store, digest });
  return digest;
}
