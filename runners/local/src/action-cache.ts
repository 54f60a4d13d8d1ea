// Action key → what the action gave. One small file an entry, so that a killed run leaves all or
// nothing of each, and two runs can write at once. Failures never enter.
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { KeyParts } from "@mlrb/core/action-key";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import type { Artifact } from "./store.ts";

export type ActionEntry = {
  formatVersion: 1;
  key: string;
  parts: KeyParts;
  /** Digests of the script's source files without comments and types: to say which one changed. */
  codeFiles: Record<string, string>;
  outputs: Record<string, Artifact>;
  /** Where and when it ran: beside the outputs, never in them. */
  ran: { run: string; stage: string; startedAt: string; durationMs: number; executor: string; host: string };
};

export class ActionCache {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  #path(key: string): string {
    return join(this.#folder, key.slice(0, 2), `${key.slice(2)}.json`);
  }

  /** The entry, or undefined where there is none that this version can read. */
  get(key: string): ActionEntry | undefined {
    try {
      const entry = JSON.parse(readFileSync(this.#path(key), "utf8")) as ActionEntry;
      return entry.formatVersion === 1 && entry.key === key ? entry : undefined;
    } catch {
      return undefined;
    }
  }

  put(entry: ActionEntry): void {
    const path = this.#path(entry.key);
    const text = canonicalJson(entry);
    try {
      writeWhole(path, text, { sync: false });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      mkdirSync(dirname(path), { recursive: true });
      writeWhole(path, text, { sync: false });
    }
  }
}
