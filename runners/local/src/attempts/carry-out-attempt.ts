// Carries out a durable instance in a folder and under a supervisor that both outlive the run. A killed run loses
// nothing: the next run resumes the attempt. Unlike the result of any other stage, the result is kept even if the
// code of its harness changes meanwhile.

import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Instance } from "@mlrb/core/plan/plan";
import type { ExecutionRequest, Running } from "@mlrb/core/ports/executor";
import { sandboxToken } from "@mlrb/core/ports/sandbox-token";
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import type { AttemptEnd, EndCause } from "@mlrb/formats/attempt/attempt-end";
import { uncheckedOf } from "@mlrb/formats/attempt/attempt-record";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { hasOpenJob } from "@mlrb/kit/attempts/open-job";
import { writeServiceAddresses } from "@mlrb/kit/attempts/service-addresses";
import type { Bound } from "../decide/bind-inputs.ts";
import { changedHandedOver } from "../digests/stage-source-files.ts";
import { thisProcess } from "../leases/owner.ts";
import { keepRecord } from "../records/keep-record.ts";
import { clearForResume, endLeftProcesses, unsetSecrets } from "../resume/clear-for-resume.ts";
import { goneMeanwhile, needsItsExecutor, needsSecrets, runsElsewhere } from "../run/attempt-refusals.ts";
import { type CarriedOut, type CarryOutContext, machineFailure } from "../run/carried-out.ts";
import { followJobs } from "../run/follow-jobs.ts";
import { followQueue } from "../run/follow-queue.ts";
import { openLog } from "../stage/open-log.ts";
import { LostInput, prepareStage, type Working } from "../stage/prepare-stage.ts";
import { secretsNamed } from "../stage/redacted-log.ts";
import { declarer, undeclaredReads } from "../stage/refusals.ts";
import type { Workspace } from "../store/workspace.ts";
import {
  type AttemptFolder,
  attemptEnd,
  attemptFolder,
  attemptFolders,
  attemptOf,
  attemptToken,
  failedFor,
  isBeingMoved,
  isUnclaimed,
  lostFolderOf,
  makeAttemptFolder,
  type PlacedAttempt,
  toldToEnd,
} from "./attempt-folders.ts";
import { handOverPurse } from "./attempt-purse.ts";
import { completeAttempt } from "./complete-attempt.ts";
import { lostCause } from "./lost-words.ts";
import { keptWords } from "./quarantine.ts";
import { removeAttempt } from "./remove-attempt.ts";
import { knowsSecrets, markSecrets } from "./secret-marks.ts";
import { settleAttempt } from "./settle-attempt.ts";
import { startSupervised, watchSupervised } from "./supervised.ts";

export async function carryOutAttempt(
  instance: Instance,
  bound: Bound,
  context: CarryOutContext,
): Promise<CarriedOut> {
  const { workspace } = context;
  let attempt: PlacedAttempt | undefined;
  let log: ReturnType<typeof openLog> | undefined;
  let begun = false;
  try {
    const adopted = await adoptedAttempt(bound.key, context);
    if (adopted?.state.kind === "elsewhere") return runsElsewhere(adopted.state.owner);
    if (!adopted && context.goesOn) return goneMeanwhile;
    const card = adopted?.card ?? cardOf(instance, bound, context);
    const resumes = adopted?.state.kind === "resumable";
    begun = adopted !== undefined;
    attempt = adopted ?? { ...makeAttemptFolder(workspace.state.running, card), card };
    const { path, name } = attempt;
    const { secrets } = instance.action;
    const unset = resumes ? unsetSecrets(card) : [];
    if (unset.length > 0) return needsSecrets(attempt, unset);
    if (resumes && hasOpenJob(path) && context.supervisor === undefined) return needsItsExecutor;
    const { log: to, before } = context;
    if (!adopted || resumes) markSecrets(path, secretsNamed(secrets));
    const knows = (values: Record<string, string>) => knowsSecrets(path, values);
    if (context.services) writeServiceAddresses(path, context.services);
    log = openLog({ from: join(path, "log"), to, secrets, before, adopted: begun, knows });
    let running: Running;
    let startedMs = performance.now();
    const supervisor = { ...(context.gpus && { gpus: context.gpus.hold }), program: context.supervisor };
    const goesOn = resumes && hasOpenJob(path) && context.supervisor !== undefined;
    const work = { ...context, work: path, token: attemptToken(name) };
    if (adopted && resumes) {
      const request = goesOn ? requestOfJob(attempt, work) : await prepareStage(instance, bound, work);
      handOverPurse(path, context);
      clearForResume(attempt); // once nothing can fail any more
      running = startSupervised({ path, name }, request, { ...supervisor, ...(goesOn && { adopts: true }) });
      context.adopted(card.startedAt, { resumed: true });
    } else if (adopted) {
      handOverPurse(path, context);
      running = watchSupervised(path, name);
      startedMs -= Date.now() - Date.parse(card.startedAt);
      context.adopted(card.startedAt);
    } else {
      const request = await prepareStage(instance, bound, work);
      handOverPurse(path, context);
      const moved = changedHandedOver(instance, bound, workspace);
      if (moved !== undefined) {
        const detail = `${moved} changed before the agent received it; run again`;
        return { kind: "failed", cause: "code-changed", detail };
      }
      running =
        context.executor.name === "local"
          ? startSupervised({ path, name }, request, supervisor)
          : context.executor.start(request);
      begun = true;
    }
    context.started(running);
    followQueue(running, { ...context, isAdopted: goesOn });
    const follower = followJobs(path, context);
    const result = await running.ended.finally(() => follower.stop());
    if (existsSync(path)) {
      const undeclared = undeclaredReads(path, declarer(instance), workspace);
      if (undeclared.length > 0) context.undeclared(undeclared);
    }
    const supervised = context.executor.name === "local";
    const left = result.kind === "cancelled" && supervised && isLeft(attempt, workspace);
    await (left ? log.leave() : log.end());
    takeMovedLog(path, to);
    if (left) {
      context.left(name); // left to its supervisor: the next run resumes the attempt
      return result;
    }
    const durationMs = Math.round(performance.now() - startedMs);
    if (result.kind !== "succeeded") return await unfinished(attempt, result, context);
    context.freed();
    const end = attemptEnd(path) ?? { formatVersion: 1, result, durationMs };
    return await keep(attempt, end, context);
  } catch (error) {
    if (error instanceof LostInput) return { kind: "lost", detail: error.message };
    const failure = machineFailure(error);
    if (!attempt || attemptEnd(attempt.path)?.result.kind !== "succeeded") return failure;
    const { name } = attempt;
    return {
      ...failure,
      detail: `${failure.detail}; the attempt itself is done and waits in .mlrb/attempts/running/${name}: run again to keep it`,
    };
  } finally {
    await log?.end();
    if (attempt && !begun) await removeAttempt(attempt.path); // nothing ran in it
  }
}

/** For the supervisor of a job that goes on: the job has its own request. */
function requestOfJob({ path, card }: PlacedAttempt, { workspace, token }: Working): ExecutionRequest {
  return {
    ...{ id: card.slot.stage, key: card.key, token, run: { kind: "command", command: "" } },
    ...{ root: workspace.repository, work: path, log: join(path, "log"), env: secretsNamed(card.secrets) },
    ...{ inputs: {}, outputs: {}, limits: {}, reads: [], writes: [], cpus: 0, gpus: [] },
  };
}

/** Keeps the attempt as a record, or quarantines the attempt where an output is missing or of another kind. */
async function keep(attempt: PlacedAttempt, end: AttemptEnd, context: CarryOutContext): Promise<CarriedOut> {
  const { workspace, log, isHeld } = context;
  const kept = await keepRecord({ ...attempt, end, log, isHeld }, workspace);
  if (kept.kind === "kept") {
    await removeAttempt(attempt.path);
    const { outputs, record, durationMs } = kept;
    return { kind: "succeeded", outputs, record, durationMs };
  }
  if (kept.cause !== "missing-output") return kept;
  const settled = await settleAttempt(attempt, failedFor(kept), workspace.state);
  return settled.kind === "quarantined"
    ? { ...kept, detail: `${kept.detail}; ${keptWords(settled)}`, quarantined: settled }
    : kept;
}

type Unfinished = ExecutionResult & { kind: "failed" | "cancelled" };

/** The failure is not the agent's. The attempt is settled because it may have been expensive. */
async function unfinished(
  attempt: PlacedAttempt,
  result: Unfinished,
  context: CarryOutContext,
): Promise<CarriedOut> {
  const { name, path, card } = attempt;
  const { workspace } = context;
  await context.clearSandbox?.(sandboxToken(attemptToken(name)), card.executor);
  const now = attemptFolder(workspace.state.running, name)?.state.kind;
  // it stays as it is, and continues, perhaps under a supervisor that has taken it over
  const continues = now === "resumable" || now === "running" || now === "elsewhere";
  if (result.kind === "failed" && continues) return result;
  const settled = await settleAttempt(attempt, causeOf(path, result), workspace.state);
  if (settled.kind === "complete") return keep(attempt, settled.end, context);
  if (settled.kind === "nothing") return result;
  const { detail, cause } =
    result.kind === "failed" ? result : { ...settled.cause, cause: "operator" as const };
  return { kind: "failed", cause, detail: `${detail}; ${keptWords(settled)}`, quarantined: settled };
}

function causeOf(path: string, result: Unfinished): EndCause {
  const end = attemptEnd(path) ?? attemptEnd(lostFolderOf(path));
  if (end?.cause) return end.cause;
  if (result.kind === "cancelled")
    return { kind: "stopped", detail: "the run that carried it out was ended" };
  if (!end && !existsSync(lostFolderOf(path)))
    return { kind: toldToEnd(path)?.kind ?? "supervisor-lost", detail: result.detail };
  return failedFor(result);
}

/** Copies the log of an attempt that its supervisor has moved: the last lines were not followed. */
function takeMovedLog(path: string, to: string): void {
  const moved = join(lostFolderOf(path), "log");
  if (existsSync(path) || !existsSync(moved)) return;
  rmSync(to, { force: true }); // both paths may name the same file
  copyFileSync(moved, to);
}

/**
 * Whether the attempt is its supervisor's. The supervisor of an attempt that ended without a result is about to
 * move the folder, or has moved it.
 */
function isLeft({ name, path }: PlacedAttempt, { state }: Workspace): boolean {
  const found = attemptFolder(state.running, name);
  if (!found) return existsSync(lostFolderOf(path));
  const { kind } = found.state;
  if (kind === "ended") return isBeingMoved(found);
  // resumable: another supervisor was starting, or its own has just died
  return kind === "running" || kind === "resumable" || (kind === "preparing" && !isUnclaimed(path));
}

/** The attempt of this key that continues, or that has ended and is not kept yet. */
async function adoptedAttempt(key: string, context: CarryOutContext): Promise<AttemptFolder | undefined> {
  const { clearSandbox, workspace } = context;
  const { running } = workspace.state;
  const found = attemptOf(key, workspace);
  if (found && found.state.kind !== "resumable") return found;
  for (const one of attemptFolders(running)) {
    const { state } = one;
    const begun = state.kind === "resumable" || (state.kind === "lost" && state.supervisor !== undefined);
    if (one.card.key !== key || !begun) continue;
    await endLeftProcesses(one, clearSandbox); // they may be writing its end
    if (typeof (await completeAttempt(one)) === "string") continue;
    await settleAttempt(one, lostCause(one.path), workspace.state); // writes its end
    return attemptFolder(running, one.name);
  }
  return found;
}

function cardOf(instance: Instance, bound: Bound, context: CarryOutContext): AttemptCard {
  const { stage, axes, execution, action } = instance;
  const protocol = context.protocol();
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
    ...(protocol !== undefined && { protocol }),
    ...uncheckedOf(instance),
  };
}
