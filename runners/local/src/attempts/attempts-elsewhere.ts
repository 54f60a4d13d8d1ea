// Attempts under a supervisor on another host. No run holds the lease of such an attempt once the run that began
// it was left, so the heartbeat of the supervisor decides: it beats at its claim as a run does at its card. An
// attempt that lives is waited for. One that is silent is left alone, and with `--take-over` it is taken from its
// host.
import { renameSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { processName } from "@mlrb/kit/processes/process-name";
import { clock, look, Stillness, silentAfterMs } from "../leases/heartbeat.ts";
import { type Card, type LeaseWait, type Silent, tryLease } from "../leases/lease.ts";
import type { StateFolder } from "../store/state-folder.ts";
import { type AttemptFolder, attemptFolder, attemptFolders, supervisorFile } from "./attempt-folders.ts";

export type AttemptElsewhere = AttemptFolder & {
  state: AttemptFolder["state"] & { kind: "elsewhere" };
};

/** A supervisor that was only cut off from the state folder looks at its claim this often (supervisor.ts), and ends. */
export const cutOffMs = 2_500;

const lookMs = 1_000;

export function attemptsElsewhere(running: string): AttemptElsewhere[] {
  return attemptFolders(running).filter(isElsewhere);
}

export function isElsewhere(attempt: AttemptFolder): attempt is AttemptElsewhere {
  return attempt.state.kind === "elsewhere";
}

/** Differs after every heartbeat of its supervisor, and for every other supervisor. */
export function beatOf({ path }: Pick<AttemptFolder, "path">): string {
  return (look(supervisorFile(path)) ?? look(join(path, "attempt.json")))?.beat ?? "";
}

/** Waits while the attempt lives on its host. Returns its silent owner; undefined once it is there no more. */
export async function whileElsewhere(
  attempt: AttemptElsewhere,
  running: string,
  wait: Pick<LeaseWait, "waiting" | "stopped" | "silentMs" | "clock">,
): Promise<(Silent & { beat: string }) | undefined> {
  const { waiting, stopped, silentMs: limitMs = silentAfterMs, clock: time = clock } = wait;
  const stillness = new Stillness(time);
  waiting?.(attempt.state.owner);
  for (;;) {
    const now = attemptFolder(running, attempt.name);
    if (!now || !isElsewhere(now) || stopped?.()) return undefined;
    const beat = beatOf(now);
    const silentMs = stillness.look(beat);
    if (silentMs >= limitMs) return { silent: now.state.owner, silentMs, beat };
    await time.sleep(lookMs);
  }
}

/**
 * Declares the attempt's host gone, if its supervisor is silent since `beat` and no living run holds the lease.
 * From then on the attempt counts as one whose supervisor died, on every host.
 */
export function takeFromHost(
  { path, card, state }: AttemptElsewhere,
  beat: string,
  { leases, by }: { leases: StateFolder["leases"]; by?: Card },
): boolean {
  const lease = tryLease(leases, card.key, by);
  if (!("release" in lease)) return false;
  try {
    const claim = supervisorFile(path);
    const lastMs = look(claim)?.mtimeMs;
    if (beatOf({ path }) !== beat) return false;
    const own = join(path, `supervisor.${processName}.tmp`);
    writeFileSync(own, JSON.stringify({ ...state.owner, gone: true }));
    // its time stays the attempt's last sign of life, up to which it costs
    const seconds = (lastMs ?? 0) / 1000;
    utimesSync(own, seconds, seconds);
    renameSync(own, claim);
    return true;
  } finally {
    lease.release();
  }
}
