// Maps action keys to outputs, as lines of an append-only log. An entry is one write and appears whole or, by its
// checksum, not at all. A file per entry would cost more than a short stage. Each host writes its own log, because
// appending is atomic on one machine only, and reads all logs. Failures are never added.

import { hash } from "node:crypto";
import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { KeyParts, Ran } from "@mlrb/formats/stage/action";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { readFrom } from "@mlrb/kit/files/read-from";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { thisPlace } from "../leases/owner.ts";
import { ifReadable } from "./if-readable.ts";
import { syncPath } from "./sync-folder.ts";

export type ActionEntry = {
  formatVersion: 1;
  key: string;
  parts: KeyParts;
  /**
   * Digest of a text in the store: digests of the script's source files without comments and types, to name the
   * changed file. Not in the entry, because all actions of a script share the text.
   */
  codeFiles: string;
  outputs: Record<string, Artifact>;
  /** Where and when the action ran: next to the outputs, never in them. */
  ran: Ran & { stage: string };
};

/** The position of an entry. Its text is parsed and checked when the entry is read. */
type Place = { text: Buffer; start: number; end: number };

export class ActionCache {
  readonly #folder: string;
  readonly #places = new Map<string, Place>();
  /** How many bytes of each log were read. */
  readonly #read = new Map<string, number>();
  #loaded = false;
  #append: { file: number; path: string; inode: number } | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the entry, or undefined if there is none that this version can read. */
  get(key: string): ActionEntry | undefined {
    if (!this.#loaded) this.refresh();
    const place = this.#places.get(key);
    return place && entryAt(place, key);
  }

  /** Returns the keys of all entries, including damaged ones, in the order in which they were first put. */
  keys(): string[] {
    if (!this.#loaded) this.refresh();
    return [...this.#places.keys()];
  }

  /** Reads the entries that any run has added since the last read. */
  refresh(): void {
    this.#loaded = true;
    for (const name of logsIn(this.#folder)) {
      const from = this.#read.get(name) ?? 0;
      const path = join(this.#folder, name);
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= from) continue;
      const text = readFrom(path, from);
      if (text === undefined || text.length === 0) continue;
      // a line that is still being written is read next time
      const whole = text.lastIndexOf(newline) + 1;
      this.#read.set(name, from + whole);
      for (let start = 0; start < whole; ) {
        const end = text.indexOf(newline, start);
        const key = text.toString("latin1", start + crcLength + 1, start + crcLength + 1 + keyLength);
        if (end - start > crcLength + keyLength + 2) this.#places.set(key, { text, start, end });
        start = end + 1;
      }
    }
  }

  put(entry: ActionEntry): void {
    // starts with a newline: an earlier writer may not have finished its line
    const text = Buffer.from(`\n${lineOf(entry)}\n`);
    // the rest of a short write would not follow its line if another run wrote in between
    if (writeSync(this.#openLog(), text) < text.length)
      throw Object.assign(new Error("ENOSPC: the entry was not written whole"), { code: "ENOSPC" });
    this.#places.set(entry.key, { text, start: 1, end: text.length - 1 });
  }

  /** Keeps only the named entries, in one log. Must not run during a run. Returns the number of removed entries. */
  retain(keys: ReadonlySet<string>): number {
    this.refresh();
    const kept = [...keys].flatMap((key) => this.get(key) ?? []);
    const logs = logsIn(this.#folder);
    // synced: the log may know results that nothing can make again
    writeWhole(join(this.#folder, logName()), kept.map((entry) => `${lineOf(entry)}\n`).join(""));
    syncPath(this.#folder);
    for (const name of logs) if (name !== logName()) rmSync(join(this.#folder, name), { force: true });
    const removed = this.#places.size - kept.length;
    this.#places.clear();
    this.#read.clear();
    this.#loaded = false;
    return removed;
  }

  /** Opens the log again if the cache was deleted in between. */
  #openLog(): number {
    const held = this.#append;
    if (held && statSync(held.path, { throwIfNoEntry: false })?.ino === held.inode) return held.file;
    if (held) closeSync(held.file);
    mkdirSync(this.#folder, { recursive: true });
    const path = join(this.#folder, logName());
    const file = openSync(path, "a");
    this.#append = { file, path, inode: fstatSync(file).ino };
    return file;
  }
}

const newline = 10;
const crcLength = 8;
const keyLength = 64;

/** `checksum key json`: the checksum covers everything after it. */
function lineOf(entry: ActionEntry): string {
  const rest = `${entry.key} ${canonicalJson(entry)}`;
  return `${checksum(Buffer.from(rest))} ${rest}`;
}

function checksum(bytes: Buffer): string {
  return crc32(bytes).toString(16).padStart(crcLength, "0");
}

function entryAt({ text, start, end }: Place, key: string): ActionEntry | undefined {
  const rest = text.subarray(start + crcLength + 1, end);
  if (text.toString("latin1", start, start + crcLength) !== checksum(rest)) return undefined;
  const entry = ifReadable(() => JSON.parse(rest.toString("utf8", keyLength + 1)) as ActionEntry | null);
  return entry?.formatVersion === 1 && entry.key === key ? entry : undefined;
}

function logName(): string {
  // containers with the same name on two machines have different boots
  const { host, boot, machine } = thisPlace();
  const rest = hash("sha256", `${host} ${machine} ${boot}`).slice(0, 8);
  return `${host.replace(/[^\w.-]/g, "_")}-${rest}.log`;
}

function logsIn(folder: string): string[] {
  const names = ifReadable(() => readdirSync(folder)) ?? []; // the cache may have been deleted
  return names.filter((name) => name.endsWith(".log")).sort();
}
