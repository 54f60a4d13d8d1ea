// Ingests the outputs of a stage once its processes are dead, and records the action. Outputs of attempts are kept
// by keep-record.
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { environmentStage, type Instance } from "@mlrb/core/plan/plan";
import type { Bound } from "../decide/bind-inputs.ts";
import { environmentPython, markReady } from "../process/environments.ts";
import type { CarriedOut, CarryOutContext } from "../run/carried-out.ts";
import { codeFilesIn } from "../store/code-files.ts";
import { ingestAll } from "../store/ingest-outputs.ts";
import { missingOutput } from "./missing-output.ts";

type Ended = CarryOutContext & {
  /** The paths of the outputs, by name. */
  paths: Record<string, string>;
  startedAt: string;
  durationMs: number;
  where?: Record<string, string>;
  /** Aborted when the run is ended meanwhile. */
  signal?: AbortSignal;
};

export async function keepOutputs(instance: Instance, bound: Bound, ended: Ended): Promise<CarriedOut> {
  const { workspace, paths, durationMs, startedAt, run, executor, where, signal } = ended;
  const { stage } = instance;
  if (stage.name === environmentStage) {
    if (!existsSync(environmentPython(bound.environment!.path))) {
      return { kind: "failed", cause: "missing-output", detail: "it made no environment" };
    }
    markReady(bound.environment!.path, bound.key);
    return { kind: "succeeded", outputs: {}, durationMs };
  }
  const missing = missingOutput(stage.gives, paths);
  if (missing !== undefined) return { kind: "failed", cause: "missing-output", detail: missing };
  const given = stage.gives.map(({ name, kind }) => ({ name, kind, path: paths[name]! }));
  const { diskBytes } = instance.execution.limits;
  const options = { bytesMax: diskBytes, ...(signal && { signal }) };
  const taken = await ingestAll(given, workspace, options).catch((error: unknown) => {
    if (signal?.aborted) return undefined;
    throw error;
  });
  if (!taken) return { kind: "cancelled" };
  if ("problem" in taken)
    return { kind: "failed", cause: "missing-output", detail: `output "${taken.name}" ${taken.problem}` };
  const { outputs } = taken;
  workspace.actions.put({
    formatVersion: 1,
    key: bound.key,
    parts: bound.parts,
    codeFiles: codeFilesIn(workspace.store, bound.codeFiles),
    outputs,
    ran: {
      ...{ run, startedAt, durationMs, executor: executor.name, host: hostname(), stage: instance.id },
      ...(where && { where }),
    },
  });
  return { kind: "succeeded", outputs, durationMs };
}
