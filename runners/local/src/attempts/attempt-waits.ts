// Reads what running attempts wait for, from the files that their supervisors keep. Changes nothing.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readWaits, waitFile } from "@mlrb/core/ports/attempt-wait";
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import type { AttemptWait } from "@mlrb/formats/attempt/attempt-wait";
import { ifReadable } from "../store/if-readable.ts";
import { attemptFolder } from "./attempt-folders.ts";

export type WaitingAttempt = { name: string; path: string; card: AttemptCard; waits: AttemptWait[] };

/** Attempts that wait for something, sorted by name. */
export function waitingAttempts(running: string): WaitingAttempt[] {
  if (!existsSync(running)) return [];
  return readdirSync(running)
    .sort()
    .flatMap((name) => {
      const waits = waitsIn(join(running, name));
      if (waits.length === 0) return [];
      const folder = attemptFolder(running, name);
      // a dead supervisor leaves its file behind
      if (folder?.state.kind !== "running" && folder?.state.kind !== "elsewhere") return [];
      const { path, card } = folder;
      return [{ name, path, card, waits }];
    });
}

/** Empty where the attempt waits for nothing or its file cannot be read. */
export function waitsIn(folder: string): AttemptWait[] {
  return ifReadable(() => readWaits(readFileSync(join(folder, waitFile), "utf8"))) ?? [];
}
