// Carries one stage instance out: lays its inputs out, has an executor run it, takes its outputs into
// the store once its whole process tree is dead, and records it. Nothing is recorded of a failure. Attempts
// are carried out by carry-out-attempt.
import { join } from "node:path";
import type { ExecutionResult } from "@mlrb/core/executor";
import { environmentStage, type Instance } from "@mlrb/core/plan";
import type { Bound } from "./bind.ts";
import { type CarriedOut, type CarryOutContext, machineFailure } from "./carried-out.ts";
import { clearEnvironment } from "./environments.ts";
import { keepOutputs } from "./keep-outputs.ts";
import { openLog } from "./open-log.ts";
import { outputPaths } from "./output-paths.ts";
import { LostInput, prepareStage } from "./prepare-stage.ts";
import type { Workspace } from "./workspace.ts";

export async function carryOut(
  instance: Instance,
  bound: Bound,
  context: CarryOutContext,
): Promise<CarriedOut> {
  const startedAt = new Date();
  const begin = performance.now();
  // what ran foreign code had a folder of its own
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
    const running =
      adopted?.running ?? executor.start(await prepareStage(instance, bound, { ...context, work: folder }));
    if (adopted) context.adopted(undefined);
    context.started(running);
    const result: ExecutionResult = await running.ended;
    await log.end();
    if (result.kind !== "succeeded") {
      if (instance.stage.name === environmentStage && result.kind === "cancelled")
        clearEnvironment(bound.environment!.path);
      return result;
    }
    context.freed();
    const changed = await changedCode(instance, bound, context.workspace);
    if (changed !== undefined)
      return { kind: "failed", cause: "code-changed", detail: `${changed} changed while it ran; run again` };
    const durationMs = Math.round(performance.now() - begin);
    return await keepOutputs(instance, bound, {
      ...context,
      paths: outputPaths(folder, instance.stage.gives),
      startedAt: startedAt.toISOString(),
      durationMs,
      ...(result.where && { where: result.where }),
    });
  } catch (error) {
    if (error instanceof LostInput) return { kind: "lost", detail: error.message };
    return machineFailure(error);
  } finally {
    await log?.end();
    if (work !== undefined) context.slots.give(work);
  }
}

/** What a dead run left running of it. What holds GPUs is ended: their lease died with that run. */
async function adoptable(instance: Instance, { key }: Bound, { executor }: CarryOutContext) {
  const found = await executor.adopt?.(key);
  if (!found || instance.execution.resources.gpus === 0) return found;
  found.running.kill();
  await found.running.ended;
  return undefined;
}

/** What a stage ran from that is not what it was when its key was made: its result belongs to no key. */
async function changedCode(
  { action }: Instance,
  bound: Bound,
  { codes, digests }: Workspace,
): Promise<string | undefined> {
  if (action.run.kind === "script" && !(await codes.stillIs(action.run.file))) return action.run.file;
  const { files, code } = bound.parts;
  const python = action.run.kind === "python" ? code : {};
  const now = digests.ofPatterns([...action.files, ...Object.keys(python)]);
  return Object.keys(now).find((path) => now[path] !== (python[path] ?? files[path]));
}
