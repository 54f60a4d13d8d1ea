// Collects the attempts that dead runs left. Ended attempts become records, whatever the current run selects; lost
// attempts are reported and quarantined. Running attempts are left alone.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { sandboxToken } from "@mlrb/core/ports/sandbox-token";
import type { AttemptEnd, EndCause } from "@mlrb/formats/attempt/attempt-end";
import { endProcesses } from "@mlrb/kit/processes/end-processes";
import { tryLease } from "../leases/lease.ts";
import { isAlive } from "../leases/owner.ts";
import { keepRecord } from "../records/keep-record.ts";
import type { ClearSandbox } from "../run/run-request.ts";
import { logPath } from "../stage/log-path.ts";
import { undeclaredReads } from "../stage/refusals.ts";
import type { StateFolder } from "../store/state-folder.ts";
import type { Workspace } from "../store/workspace.ts";
import {
  type AttemptFolder,
  attemptFolders,
  attemptToken,
  failedFor,
  isBeingMoved,
  isUnclaimed,
} from "./attempt-folders.ts";
import { lostAttempts } from "./lost-attempts.ts";
import { lostCause } from "./lost-words.ts";
import { causeWords, keptWords, quarantinedMs } from "./quarantine.ts";
import { removeAttempt } from "./remove-attempt.ts";
import { settleAttempt } from "./settle-attempt.ts";

export type CollectOptions = {
  /** Called with a line about each attempt that is kept or lost. */
  tell: (line: string) => void;
  clearSandbox: ClearSandbox;
};

export async function collectEndedAttempts(workspace: Workspace, options: CollectOptions): Promise<void> {
  for (const attempt of attemptFolders(workspace.state.running)) {
    const { kind } = attempt.state;
    if ((kind !== "ended" && kind !== "lost") || isBeingMoved(attempt)) continue;
    // the run of the attempt may be alive and about to do the same
    const lease = tryLease(workspace.state.leases, attempt.card.key);
    if (!("release" in lease)) continue;
    try {
      if (existsSync(attempt.path))
        await collectAttempt(attempt, { workspace, isHeld: lease.isHeld, ...options });
    } finally {
      lease.release();
    }
  }
}

type Context = CollectOptions & { workspace: Workspace; isHeld: () => boolean };

async function collectAttempt(attempt: AttemptFolder, context: Context): Promise<void> {
  const { name, path, card, state } = attempt;
  const { workspace, tell } = context;
  const { stage } = card.slot;
  // the supervisor that the run had started may appear only now
  if (state.kind === "lost" && !state.supervisor && !isUnclaimed(path)) return;
  if (state.kind === "lost") await endProcesses({ token: attemptToken(name), root: path, groups: [] });
  const ended = state.kind === "ended" ? state.end : undefined;
  if (ended?.result.kind !== "succeeded")
    await context.clearSandbox(sandboxToken(attemptToken(name)), card.executor);
  const cause = causeOf(attempt);
  const settled = await settleAttempt(attempt, cause, workspace.state);
  if (settled.kind === "complete") return keep(attempt, settled.end, context);
  if (settled.kind === "quarantined") {
    const word = ["supervisor-lost", "host-gone"].includes(settled.cause.kind) ? "lost   " : "failed ";
    const words = `begun ${card.startedAt}: ${causeWords(settled.cause)}; ${keptWords(settled)}`;
    tell(`${word} ${stage}  (${words})`);
  } else if (ended) tell(`failed  ${stage}  (${causeWords(cause)})`);
}

async function keep(attempt: AttemptFolder, end: AttemptEnd, context: Context): Promise<void> {
  const { path, card } = attempt;
  const { workspace, isHeld, tell } = context;
  const { stage } = card.slot;
  const own = join(path, "log");
  for (const { what } of undeclaredReads(path, { stage, files: [] }, workspace))
    tell(`undeclared: ${what}, so no key holds it`);
  const log = card.secrets.length === 0 && existsSync(own) ? own : logPath(workspace.state.logs, stage);
  const kept = await keepRecord({ path, card, end, log, isHeld }, workspace);
  if (kept.kind === "kept") {
    await removeAttempt(path);
    return tell(`kept    ${stage}  (begun ${card.startedAt} by run ${card.run}, which is gone)`);
  }
  if (kept.cause === "machine") return;
  const settled = await settleAttempt(attempt, failedFor(kept), workspace.state);
  const where = settled.kind === "quarantined" ? `; ${keptWords(settled)}` : "";
  tell(`failed  ${stage}  (${kept.detail}${where})`);
}

function causeOf({ path, card, state }: AttemptFolder): EndCause {
  if (state.kind !== "ended") return lostCause(path);
  const { result, cause } = state.end;
  if (cause) return cause;
  if (result.kind === "failed") return failedFor(result);
  return { kind: "stopped", detail: `by run ${card.run}` };
}

/**
 * Action keys of attempts that are running, here or on another host, that ended or were lost and are not collected
 * yet, or that were lost since `sinceMs` (ms since the epoch). A confirmation given before a loss does not cover
 * another attempt.
 */
export function goingKeys(
  { state }: { state: Pick<StateFolder, "running" | "attempts" | "root"> },
  sinceMs: number,
): Set<string> {
  const begun = ["running", "elsewhere", "resumable", "ended", "lost"]; // read first: an attempt may move to `lost/` meanwhile
  const going = attemptFolders(state.running).filter((attempt) => begun.includes(attempt.state.kind));
  const lost = lostAttempts(state).filter(({ path }) => quarantinedMs(path) >= sinceMs);
  return new Set([...going, ...lost].map(({ card }) => card.key));
}

/** Attempts that continue although the run that began them is dead; another run may have adopted them. */
export function orphanedAttempts({ state }: { state: Pick<StateFolder, "running"> }): AttemptFolder[] {
  const running = attemptFolders(state.running).filter(({ state: { kind } }) => kind === "running");
  return running.filter(({ card }) => !isAlive(card.by));
}
