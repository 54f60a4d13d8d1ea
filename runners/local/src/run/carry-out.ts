// Carries out one stage instance: materializes its inputs, has an executor run it, ingests its outputs once its
// whole process tree is dead, and records the action. A failure is not recorded. Attempts are carried out by
// carry-out-attempt.
import { join } from "node:path";
import { environmentStage, type Instance } from "@mlrb/core/plan/plan";
import { runsHere } from "@mlrb/core/plan/runs-here";
import type { Bound } from "../decide/bind-inputs.ts";
import {
  changedContent,
  type SourceChange,
  sourceChangeText,
  watchSources,
} from "../digests/stage-source-files.ts";
import { usesGpusHere } from "../leases/gpu-inventory.ts";
import { clearEnvironment } from "../process/environments.ts";
import { openLog } from "../stage/open-log.ts";
import { outputPaths } from "../stage/output-paths.ts";
import { LostInput, prepareStage } from "../stage/prepare-stage.ts";
import { keepOutputs } from "../stage/record-action.ts";
import { withRefusals } from "../stage/refusals.ts";
import { type CarriedOut, type CarryOutContext, machineFailure } from "./carried-out.ts";
import { followQueue } from "./follow-queue.ts";

export async function carryOut(
  instance: Instance,
  bound: Bound,
  context: CarryOutContext,
): Promise<CarriedOut> {
  const startedAt = new Date();
  const begin = performance.now();
  // foreign code ran in a folder of its own
  const fresh = instance.stage.untrusted;
  let work: string | undefined;
  let log: ReturnType<typeof openLog> | undefined;
  try {
    const { log: to, before, executor } = context;
    const adopted = await adoptable(instance, bound, context);
    const folder = adopted?.work ?? context.slots.take({ fresh });
    if (!adopted) work = folder;
    const { secrets } = instance.action;
    log = openLog({ from: join(folder, "log"), to, secrets, before, adopted: adopted !== undefined });
    const request = adopted ? undefined : await prepareStage(instance, bound, { ...context, work: folder });
    const sources = adopted ? undefined : await watchSources(instance, bound, context.workspace);
    const running = adopted?.running ?? executor.start(request!);
    if (adopted) context.adopted(undefined);
    context.started(running);
    const queue = followQueue(running, { ...context, isAdopted: adopted !== undefined });
    const result = withRefusals(await running.ended, folder, { instance, workspace: context.workspace });
    await log.end();
    if (result.kind !== "succeeded") {
      // a lost node may still be writing there: the folder is removed with the run's
      if (result.kind === "failed" && result.cause === "machine" && !runsHere(instance)) work = undefined;
      if (instance.stage.name === environmentStage && result.kind === "cancelled")
        clearEnvironment(bound.environment!.path);
      return result;
    }
    const changed = sources ? await sources() : await adoptedChange(instance, bound, context);
    if (changed)
      return {
        kind: "failed",
        cause: "code-changed",
        detail: sourceChangeText(changed),
        ...(changed.kind !== "changed" && { unchanged: changed.path }),
      };
    context.freed();
    const durationMs = Math.round(performance.now() - begin - (queue.queuedMs ?? 0));
    const where = { ...result.where, ...queue.words };
    // the processes are dead; from here on a signal ends only the reading of the outputs
    const reading = new AbortController();
    const abort = () => reading.abort();
    context.started({ ended: running.ended, askToEnd: abort, kill: abort });
    return await keepOutputs(instance, bound, {
      ...context,
      signal: reading.signal,
      paths: outputPaths(folder, instance.stage.gives),
      startedAt: (queue.beganAt ?? startedAt).toISOString(),
      durationMs,
      ...(Object.keys(where).length > 0 && { where }),
    });
  } catch (error) {
    if (error instanceof LostInput) return { kind: "lost", detail: error.message };
    return machineFailure(error);
  } finally {
    await log?.end();
    if (work !== undefined) context.slots.give(work);
  }
}

/** The change of a declared file under a process of a dead run. Only contents can show the change. */
async function adoptedChange(
  instance: Instance,
  bound: Bound,
  { workspace }: CarryOutContext,
): Promise<SourceChange | undefined> {
  const path = await changedContent(instance, bound, workspace);
  return path === undefined ? undefined : { kind: "changed", path };
}

/** The process that a dead run left running. One with GPUs of this host is ended: its lease died with that run. */
async function adoptable(instance: Instance, { key }: Bound, { executor }: CarryOutContext) {
  const found = await executor.adopt?.(key);
  if (!found || !usesGpusHere(instance)) return found;
  found.running.kill();
  await found.running.ended;
  return undefined;
}
