// What runs that are gone have left of attempts: those that have ended are kept as records, whatever the run
// that finds them was asked for, and those that were lost are told and cleared. What goes on is left alone.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { sandboxToken } from "@mlrb/core/sandbox-token";
import { endProcesses } from "@mlrb/kit/end-processes";
import { type AttemptFolder, attemptFolders, attemptToken } from "./attempt-folders.ts";
import { keepRecord } from "./keep-record.ts";
import { tryLease } from "./lease.ts";
import { isAlive } from "./owner.ts";
import { keptWords, putAside } from "./put-aside.ts";
import { removeFolder } from "./remove-folder.ts";
import { type ClearSandbox, logPath } from "./run-request.ts";
import type { StateFolder } from "./state-folder.ts";
import type { Workspace } from "./workspace.ts";

export type TakeInOptions = {
  /** Called with a line for people about each that is kept or lost. */
  tell: (line: string) => void;
  clearSandbox: ClearSandbox;
};

export async function takeInAttempts(workspace: Workspace, options: TakeInOptions): Promise<void> {
  for (const attempt of attemptFolders(workspace.state.running)) {
    const { kind } = attempt.state;
    if (kind !== "ended" && kind !== "lost") continue;
    // its run may live and be about to do the same
    const lease = tryLease(workspace.state.leases, attempt.card.key);
    if (!("release" in lease)) continue;
    try {
      if (existsSync(attempt.path)) await takeIn(attempt, { workspace, isHeld: lease.isHeld, ...options });
    } finally {
      lease.release();
    }
  }
}

type Context = TakeInOptions & { workspace: Workspace; isHeld: () => boolean };

async function takeIn({ name, path, card, state }: AttemptFolder, context: Context): Promise<void> {
  const { workspace, isHeld, tell } = context;
  const { stage } = card.slot;
  if (state.kind === "lost") {
    await endProcesses({ token: attemptToken(name), root: path, groups: [] });
    await context.clearSandbox(sandboxToken(attemptToken(name)), card.executor);
    const kept = state.supervisor && putAside({ name, path, card }, workspace.state);
    if (state.supervisor)
      tell(
        `lost    ${stage}  (its supervisor, begun ${card.startedAt}, ended without a word${kept ? `; ${keptWords(kept)}` : ""})`,
      );
  }
  if (state.kind === "ended" && state.end.result.kind === "failed") {
    await context.clearSandbox(sandboxToken(attemptToken(name)), card.executor);
    const kept = putAside({ name, path, card }, workspace.state);
    const { cause, detail } = state.end.result;
    tell(`failed  ${stage}  (${cause}: ${detail}${kept ? `; ${keptWords(kept)}` : ""})`);
  }
  if (state.kind === "ended" && state.end.result.kind === "succeeded") {
    const own = join(path, "log");
    const log = card.secrets.length === 0 && existsSync(own) ? own : logPath(workspace.state.logs, stage);
    const kept = await keepRecord({ path, card, end: state.end, log, isHeld }, workspace);
    if (kept.kind === "failed" && kept.cause === "machine") return;
    const { run, startedAt } = card;
    tell(
      kept.kind === "kept"
        ? `kept    ${stage}  (begun ${startedAt} by run ${run}, which is gone)`
        : `failed  ${stage}  (${kept.detail})`,
    );
  }
  removeFolder(path);
}

type Place = { state: Pick<StateFolder, "running"> };

/** Attempts that go on, whoever waits for them. */
export function runningAttempts({ state }: Place): AttemptFolder[] {
  return attemptFolders(state.running).filter(({ state: { kind } }) => kind === "running");
}

/** Attempts that go on although the run that began them is gone; another may have gone on with them. */
export function orphanedAttempts(place: Place): AttemptFolder[] {
  return runningAttempts(place).filter(({ card }) => !isAlive(card.by));
}
