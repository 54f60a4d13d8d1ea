// Carries a durable instance out: in a folder that outlives the run, under a supervisor that does, so that a
// run that is killed loses nothing and the next one goes on with what there is. Unlike the result of any
// other stage it is kept whatever becomes of its harness' code meanwhile.
import { join } from "node:path";
import type { Running } from "@mlrb/core/executor";
import type { Instance } from "@mlrb/core/plan";
import { sandboxToken } from "@mlrb/core/sandbox-token";
import {
  type AttemptCard,
  attemptEnd,
  attemptFolder,
  attemptFolders,
  attemptOf,
  attemptToken,
  makeAttemptFolder,
} from "./attempt-folders.ts";
import type { Bound } from "./bind.ts";
import { type CarriedOut, type CarryOutContext, machineFailure } from "./carried-out.ts";
import { keepRecord } from "./keep-record.ts";
import { openLog } from "./open-log.ts";
import { thisProcess } from "./owner.ts";
import { LostInput, prepareStage } from "./prepare-stage.ts";
import { keptWords, putAside } from "./put-aside.ts";
import { removeFolder } from "./remove-folder.ts";
import { startSupervised, watchSupervised } from "./supervised.ts";
import type { Workspace } from "./workspace.ts";

export async function carryOutAttempt(
  instance: Instance,
  bound: Bound,
  context: CarryOutContext,
): Promise<CarriedOut> {
  const { workspace } = context;
  let attempt: { name: string; path: string; card: AttemptCard } | undefined;
  let log: ReturnType<typeof openLog> | undefined;
  let over = false;
  try {
    const adopted = attemptOf(bound.key, workspace);
    if (!adopted && context.takeOver) leaveElsewhere(bound.key, workspace);
    const card = adopted?.card ?? cardOf(instance, bound, context);
    attempt = adopted ?? { ...makeAttemptFolder(workspace.state.running, card), card };
    const { path, name } = attempt;
    const { secrets } = instance.action;
    const { log: to, before } = context;
    log = openLog({ from: join(path, "log"), to, secrets, before, adopted: adopted !== undefined });
    let running: Running;
    let startedMs = performance.now();
    if (adopted) {
      running = watchSupervised(path, name);
      startedMs -= Date.now() - Date.parse(card.startedAt);
      context.adopted(card.startedAt);
    } else {
      const request = await prepareStage(instance, bound, {
        ...context,
        work: path,
        token: attemptToken(name),
      });
      running =
        context.executor.name === "local"
          ? startSupervised({ path, name }, request, context.gpus?.hold)
          : context.executor.start(request);
    }
    context.started(running);
    const result = await running.ended;
    await log.end();
    if (result.kind === "cancelled" && attemptFolder(workspace.state.running, name)?.state.kind === "running")
      return result; // left to itself: the next run goes on with it
    if (result.kind !== "succeeded") {
      over = true;
      if (result.kind === "cancelled") return result;
      // whoever failed it, it was not the agent: what it did may have cost much
      await context.clearSandbox?.(sandboxToken(attemptToken(name)), card.executor);
      const kept = putAside(attempt, workspace.state);
      return kept === undefined ? result : { ...result, detail: `${result.detail}; ${keptWords(kept)}` };
    }
    context.freed();
    const end = attemptEnd(path) ?? {
      formatVersion: 1,
      result,
      durationMs: Math.round(performance.now() - startedMs),
    };
    const kept = await keepRecord({ path, card, end, log: context.log, isHeld: context.isHeld }, workspace);
    over = kept.kind === "kept" || kept.cause === "missing-output";
    if (kept.kind === "failed") return kept;
    const { outputs, record, durationMs } = kept;
    return { kind: "succeeded", outputs, record, durationMs };
  } catch (error) {
    if (error instanceof LostInput) {
      over = true;
      return { kind: "lost", detail: error.message };
    }
    const failure = machineFailure(error);
    const done = attempt && attemptEnd(attempt.path)?.result.kind === "succeeded";
    over = !done;
    if (!done) return failure;
    return {
      ...failure,
      detail: `${failure.detail}; the attempt itself is done and waits: run again to keep it`,
    };
  } finally {
    await log?.end();
    if (attempt && over) removeFolder(attempt.path);
  }
}

/** Puts aside what a host that is gone, as the person who runs says, has begun of this. */
function leaveElsewhere(key: string, { state }: Workspace): void {
  for (const one of attemptFolders(state.running))
    if (one.card.key === key && one.state.kind === "elsewhere" && putAside(one, state) === undefined)
      removeFolder(one.path);
}

function cardOf(instance: Instance, bound: Bound, context: CarryOutContext): AttemptCard {
  const { stage, axes, execution, action } = instance;
  return {
    formatVersion: 1,
    run: context.run,
    by: thisProcess(),
    startedAt: new Date().toISOString(),
    slot: { ...context.slot, stage: instance.id },
    axes,
    key: bound.key,
    parts: bound.parts,
    given: context.origins.map((origin) => ({ ...origin, ...bound.inputs[origin.name]! })),
    gives: stage.gives.map(({ name, file, kind }) => ({ name, file, kind })),
    harness: bound.codeFiles,
    gpus: execution.resources.gpus,
    secrets: action.secrets,
    executor: execution.executor,
    ...(context.estimate && { estimate: context.estimate }),
  };
}
