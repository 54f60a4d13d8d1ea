// Files under .mlrb/cache/memory. They save time and decide nothing. A file that is torn, of another version or
// cannot be written counts as missing.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { writeWhole } from "@mlrb/kit/json-file";
import { ifReadable } from "./if-readable.ts";

/** Undefined if there is no memory of this version. A file torn by a kill or a power cut is not JSON. */
export function readMemory<T extends object>(path: string, formatVersion: number): T | undefined {
  type Held = T & { formatVersion?: unknown };
  const held = ifReadable(() => JSON.parse(readFileSync(path, "utf8")) as Held | null);
  return held?.formatVersion === formatVersion ? held : undefined;
}

export function writeMemory(path: string, value: { formatVersion: number }): void {
  const text = JSON.stringify(value);
  try {
    if (!existsSync(dirname(path))) mkdirSync(dirname(path), { recursive: true });
    writeWhole(path, text, { sync: false });
  } catch {
    // a read-only state, a full disk, or a deleted cache
  }
}

/** Named tables that are read once, on first use, and written if one changed. */
export class MemoryFile<T extends Record<string, object>> {
  readonly #path: string;
  readonly #formatVersion: number;
  readonly #empty: T;
  #held: T | undefined;
  #changed = false;

  constructor(path: string, formatVersion: number, empty: T) {
    this.#path = path;
    this.#formatVersion = formatVersion;
    this.#empty = empty;
  }

  get value(): T {
    if (this.#held) return this.#held;
    const read: Record<string, unknown> = readMemory(this.#path, this.#formatVersion) ?? {};
    const tables = Object.entries(this.#empty).map(([name, none]) => {
      const table = read[name];
      return [name, table !== null && typeof table === "object" ? table : none];
    });
    this.#held = Object.fromEntries(tables) as T;
    return this.#held;
  }

  /** Must be called after a change of `value`. */
  change(): void {
    this.#changed = true;
  }

  save(): void {
    if (!this.#changed) return;
    writeMemory(this.#path, { ...this.value, formatVersion: this.#formatVersion });
    this.#changed = false;
  }
}
