// Reads the state of an attempt from its folder, for a run that no longer follows the attempt.

import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EndCause } from "@mlrb/formats/attempt/attempt-end";
import { isSealed } from "../resume/resumable.ts";
import { outputPaths } from "../stage/output-paths.ts";
import { attemptFolder, failedFor, isBeingMoved, lostFolderOf, toldToEnd } from "./attempt-folders.ts";
import { lostCause } from "./lost-words.ts";
import { type Quarantined, quarantineIn } from "./quarantine.ts";

export type Fate =
  | { kind: "going" }
  /** Asked to end, or failed, and not yet moved by its supervisor. */
  | { kind: "ending" }
  /** Its supervisor or host died; the next run continues it. */
  | { kind: "broken-off"; cause: EndCause }
  /** Ended normally; the next run keeps the attempt. */
  | { kind: "complete" }
  | ({ kind: "quarantined" } & Quarantined)
  /** Ended without a record; the next run quarantines it. */
  | { kind: "failed"; cause: EndCause }
  /** Produced and spent nothing, or another run has taken the attempt. */
  | { kind: "gone" };

/** `path`: the folder of the attempt while it runs. */
export function attemptFate(path: string, root: string): Fate {
  const found = attemptFolder(dirname(path), basename(path));
  if (!found) {
    const left = quarantineIn(lostFolderOf(path), root);
    return left ? { kind: "quarantined", ...left } : { kind: "gone" };
  }
  const { state } = found;
  if (state.kind === "ended") {
    const { result, cause } = state.end;
    if (result.kind === "succeeded") return { kind: "complete" };
    if (isBeingMoved(found)) return { kind: "ending" };
    if (result.kind === "failed") return { kind: "failed", cause: cause ?? failedFor(result) };
    return { kind: "failed", cause: cause ?? { kind: "failed", detail: "it was ended" } };
  }
  if (state.kind === "resumable") return { kind: "broken-off", cause: lostCause(path) };
  if (state.kind !== "lost") return { kind: toldToEnd(path) ? "ending" : "going" };
  const { ledger } = outputPaths(path, found.card.gives);
  if (ledger !== undefined && isSealed(ledger)) return { kind: "complete" };
  return { kind: "failed", cause: lostCause(path) };
}

/** A signal to a whole container or job reaches the supervisors within this time after the run. */
const sameMomentMs = 1_000;
const lookMs = 50;

/**
 * Waits up to `patienceMs` for the fate of an attempt that was left to its supervisor, which may be ending the
 * attempt too.
 */
export async function attemptFateInTime(path: string, root: string, patienceMs: number): Promise<Fate> {
  const began = performance.now();
  for (;;) {
    const fate = attemptFate(path, root);
    const passed = performance.now() - began;
    if (fate.kind === "going" ? passed > sameMomentMs : fate.kind !== "ending" || passed > patienceMs)
      return fate;
    await sleep(lookMs);
  }
}
