// Finds the newest record of each attempt key and of each slot without reading the records. The folders of the
// records are the truth. index.jsonl only saves reading them; records that it lacks are read and added.

import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { canonicalJson } from "@mlrb/kit/json-file";
import { NewerFormat } from "../store/newer-format.ts";
import { whereWritable } from "../store/read-only-state.ts";
import { DamagedRecord, damagedWords } from "./damaged-record.ts";
import { checkFormats, type Line, lineOf, slotName } from "./record-line.ts";

type Newest = { byKey: Map<string, Line>; bySlot: Map<string, Line> };

export class RecordIndex {
  readonly #records: string;
  readonly #file: string;
  /** Throws DamagedRecord and NewerFormat. */
  readonly #read: (digest: string) => AttemptRecord;
  #newest: Newest | undefined;
  /**
   * Records that follow their format. Those that the index names were written here, imported, or checked before they
   * were added, and their digest pins them. A `status` therefore checks none again.
   */
  readonly #checked = new Set<string>();
  /** Damaged records that no longer show their attempt. */
  readonly #unknown = new Set<string>();

  /** `folder` holds the index and the folder of records. */
  constructor(folder: string, read: (digest: string) => AttemptRecord) {
    this.#records = join(folder, "records");
    this.#file = join(folder, "index.jsonl");
    this.#read = read;
  }

  /** Forgets the records that were read: another run may have added records since. */
  refresh(): void {
    this.#newest = undefined;
  }

  byKey(key: string): Line | undefined {
    return this.#load().byKey.get(key);
  }

  bySlot(slot: AttemptRecord["slot"]): Line | undefined {
    return this.#load().bySlot.get(slotName(slot));
  }

  unknown(): ReadonlySet<string> {
    this.#load();
    return this.#unknown;
  }

  isChecked(digest: string): boolean {
    try {
      this.#load();
    } catch (error) {
      if (!(error instanceof NewerFormat)) throw error; // an error of another record, which is reported where that record is needed
    }
    return this.#checked.has(digest);
  }

  checked(digest: string): void {
    this.#checked.add(digest);
  }

  /** Adds a record that was just put in place. */
  add(line: Line): void {
    // a run that was killed here may have put the record in place already
    if (this.byKey(line.key)?.record === line.record) return;
    this.#remember(line);
    appendFileSync(this.#file, `${canonicalJson(line)}\n`);
  }

  #load(): Newest {
    if (this.#newest) return this.#newest;
    this.#newest = { byKey: new Map(), bySlot: new Map() };
    this.#unknown.clear();
    const known = new Set<string>();
    const text = existsSync(this.#file) ? readFileSync(this.#file, "utf8") : "";
    const present = new Set(recordDigests(this.#records));
    for (const line of text.split("\n")) {
      try {
        const entry = JSON.parse(line) as Line;
        if (typeof entry.slot !== "string" || typeof entry.key !== "string") continue;
        known.add(entry.record);
        if (!present.has(entry.record)) continue;
        checkFormats(entry.record, { format: entry.format, keyFormat: entry.keyFormat });
        this.#remember(entry);
        this.#checked.add(entry.record);
      } catch (error) {
        if (error instanceof NewerFormat) {
          this.#newest = undefined; // a later call must not find a partly read index
          throw error;
        }
        // a line torn by a kill, or empty: the record's folder is read below
      }
    }
    if (text !== "" && !text.endsWith("\n")) this.#append("\n");
    for (const digest of present) if (!known.has(digest)) this.#learn(digest);
    return this.#newest;
  }

  /** For a damaged record, its remaining text decides which attempt cannot be used. */
  #learn(digest: string): void {
    try {
      const line = lineOf(digest, this.#read(digest));
      this.#remember(line);
      this.#append(`${canonicalJson(line)}\n`);
    } catch (error) {
      if (error instanceof NewerFormat) this.#newest = undefined;
      if (!(error instanceof DamagedRecord)) throw error;
      const words = damagedWords(join(this.#records, digest));
      if (words) this.#remember({ ...words, record: digest, slot: slotName(words.slot) });
      else this.#unknown.add(digest);
    }
  }

  /** No-op on a read-only state. */
  #append(text: string): void {
    whereWritable(() => appendFileSync(this.#file, text));
  }

  #remember(line: Line): void {
    const { byKey, bySlot } = this.#load();
    for (const [map, name] of [
      [byKey, line.key],
      [bySlot, line.slot],
    ] as const) {
      const held = map.get(name);
      if (!held || held.startedAt <= line.startedAt) map.set(name, line);
    }
  }
}

/** Lists the records in a folder of records, by digest, in code-unit order. */
export function recordDigests(records: string): string[] {
  if (!existsSync(records)) return [];
  return readdirSync(records)
    .filter((name) => /^[0-9a-f]{64}$/.test(name))
    .sort();
}
