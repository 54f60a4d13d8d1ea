// Reads what running attempts wait for, from the files that their supervisors keep. Changes nothing.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readWaits, waitFile } from "@mlrb/core/ports/attempt-wait";
import type { AttemptWait } from "@mlrb/formats/attempt/attempt-wait";
import { ifReadable } from "../store/if-readable.ts";
import { attemptFolders, type PlacedAttempt } from "./attempt-folders.ts";

export type WaitingAttempt = PlacedAttempt & { waits: AttemptWait[] };

/** Attempts that wait for something, sorted by name. A dead supervisor leaves its file behind. */
export function waitingAttempts(running: string): WaitingAttempt[] {
  return attemptFolders(running)
    .filter(({ state: { kind } }) => kind === "running" || kind === "elsewhere")
    .map(({ name, path, card }) => ({ name, path, card, waits: waitsIn(path) }))
    .filter(({ waits }) => waits.length > 0);
}

/** Empty where the attempt waits for nothing or its file cannot be read. */
export function waitsIn(folder: string): AttemptWait[] {
  return ifReadable(() => readWaits(readFileSync(join(folder, waitFile), "utf8"))) ?? [];
}
