// Action key → outputs, as lines of an append-only log: one write per entry, which appears whole or, by its checksum, not at
// all. A file per entry would cost more than a short stage. Each host writes a log of its own, since appending is atomic on
// one machine only, and reads all logs. Failures are never added.

import { hash } from "node:crypto";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { KeyParts, Ran } from "@mlrb/formats/stage/action";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { canonicalJson } from "@mlrb/kit/json-file";
import { processName } from "@mlrb/kit/processes/process-name";
import { thisPlace } from "../leases/owner.ts";
import { readFrom } from "./read-appended.ts";

export type ActionEntry = {
  formatVersion: 1;
  key: string;
  parts: KeyParts;
  /**
   * A text in the store: digests of the script's source files without comments and types, to say which
   * one changed. Not here, since all actions of a script share it.
   */
  codeFiles: string;
  outputs: Record<string, Artifact>;
  /** Where and when it ran: next to the outputs, never in them. */
  ran: Ran & { stage: string };
};

/** The position of an entry: its text is parsed and checked when the entry is read. */
type Place = { text: Buffer; start: number; end: number };

export class ActionCache {
  readonly #folder: string;
  readonly #places = new Map<string, Place>();
  /** How far each log was read. */
  readonly #read = new Map<string, number>();
  #loaded = false;
  #logs: string[] = [];
  /** When the folder changed, as of the last look, and when it was listed. */
  #changed: number | undefined;
  #listed = 0;
  #append: { file: number; path: string; inode: number } | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The entry, or undefined where there is none that this version can read. */
  get(key: string): ActionEntry | undefined {
    if (!this.#loaded) this.refresh();
    const place = this.#places.get(key);
    return place && entryAt(place, key);
  }

  /** Keys of all that was read, the damaged included, in the order in which they were first put. */
  keys(): string[] {
    if (!this.#loaded) this.refresh();
    return [...this.#places.keys()];
  }

  /** Reads what any run has added since. */
  refresh(): void {
    this.#loaded = true;
    const changed = statSync(this.#folder, { throwIfNoEntry: false })?.mtimeMs;
    // a log that was made right after the last look may share its moment with what was seen then
    if (changed === undefined || changed !== this.#changed || this.#listed - changed < 1000) {
      this.#listed = Date.now();
      this.#logs = logsIn(this.#folder);
    }
    this.#changed = changed;
    for (const name of this.#logs) {
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
    const line = lineOf(entry);
    // begins with a new line: an earlier writer may not have finished its line
    const text = Buffer.from(`\n${line}\n`);
    const written = writeSync(this.#openLog(), text);
    // the rest of a short write would not be whole any more if another run wrote meanwhile
    if (written < text.length)
      throw Object.assign(new Error("ENOSPC: the entry was not written whole"), { code: "ENOSPC" });
    this.#places.set(entry.key, { text, start: 1, end: text.length - 1 });
  }

  /** Keeps only the named entries, in one log; not during a run. Returns the number of removed entries. */
  retain(keys: ReadonlySet<string>): number {
    this.refresh();
    const kept = [...keys].flatMap((key) => this.get(key) ?? []);
    const logs = logsIn(this.#folder);
    const path = join(this.#folder, logName());
    const temporary = `${path}.${processName}.tmp`;
    writeFileSync(temporary, kept.map((entry) => `${lineOf(entry)}\n`).join(""));
    renameSync(temporary, path);
    for (const name of logs) if (name !== logName()) rmSync(join(this.#folder, name), { force: true });
    const removed = this.#places.size - kept.length;
    this.#places.clear();
    this.#read.clear();
    this.#loaded = false;
    return removed;
  }

  /** The log, also when someone deleted the cache meanwhile. */
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

/** `checksum key json`: the checksum is of all that comes after it. */
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
  try {
    const entry = JSON.parse(rest.toString("utf8", keyLength + 1)) as ActionEntry;
    return entry.formatVersion === 1 && entry.key === key ? entry : undefined;
  } catch {
    return undefined;
  }
}

function logName(): string {
  // containers of one name on two machines have two boots
  const { host, boot, machine } = thisPlace();
  const rest = hash("sha256", `${host} ${machine} ${boot}`).slice(0, 8);
  return `${host.replace(/[^\w.-]/g, "_")}-${rest}.log`;
}

function logsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".log"))
      .sort();
  } catch {
    return []; // the cache was deleted
  }
}
