// Attempts are records, not cache: what an agent did cost money and cannot be recomputed. Each is an
// immutable folder named by the digest of its record, outside the cache, never collected. The folders
// are the truth; the index only saves reading them. Large files of a record have other names in other
// records and in the cache (lay-out-record), of which each keeps the content without the others.

import { createHash, randomBytes } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type AttemptRecord, attemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { checkFormat } from "@mlrb/formats/read-format";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { processName } from "@mlrb/kit/processes/process-name";
import type { Store } from "../store/artifact-store.ts";
import { NewerFormat } from "../store/newer-format.ts";
import { whereWritable } from "../store/read-only-state.ts";
import { raiseFormat } from "../store/state-folder.ts";
import { syncFolder, syncPath } from "../store/sync-folder.ts";
import type { VerifiedContents } from "../store/verified-contents.ts";
import { DamagedRecord, damagedWords } from "./damaged-record.ts";
import { takeInRecord } from "./import-record.ts";
import { layOutRecord } from "./materialize-record.ts";
import { checkFormats, type Line, lineOf, slotName } from "./record-line.ts";
import { verifyRecord } from "./verify-record.ts";

export { DamagedRecord } from "./damaged-record.ts";
export { slotName } from "./record-line.ts";

export type HeldRecord = { digest: string; record: AttemptRecord };

/** `format` and `keyFormat` are the record's; lines of earlier versions lack them. */
export class AttemptRecords {
  readonly #records: string;
  readonly #index: string;
  readonly #store: Store;
  readonly #verified: VerifiedContents;
  /** Digests of records' files by inode. */
  readonly #read = new Map<string, string>();
  #newest: { byKey: Map<string, Line>; bySlot: Map<string, Line> } | undefined;
  #earlier: HeldRecord[] | undefined;
  /**
   * Records that are known to follow their format: all that the index names, for they were written here, imported, or
   * checked before the index named them, and their digest pins them. So a `status` checks none again.
   */
  readonly #checked = new Set<string>();
  /** Damaged ones of which it cannot be told what they are records of. */
  readonly #unknown = new Set<string>();

  constructor(folder: string, { store, verified }: { store: Store; verified: VerifiedContents }) {
    this.#records = join(folder, "records");
    this.#index = join(folder, "index.jsonl");
    this.#store = store;
    this.#verified = verified;
  }

  /** Forgets what was read: another run may have added records since. */
  refresh(): void {
    this.#newest = undefined;
  }

  /** Whether there is a record with this attempt key; it is not read. */
  has(key: string): boolean {
    return this.#load().byKey.has(key);
  }

  /** Whether a slot has a record; it is not read. */
  hasSlot(slot: AttemptRecord["slot"]): boolean {
    return this.#load().bySlot.has(slotName(slot));
  }

  /** The newest record with this attempt key, in any slot. */
  find(key: string): HeldRecord | undefined {
    return this.#held(this.#load().byKey.get(key));
  }

  /** The newest record of a slot, whatever its key. */
  inSlot(slot: AttemptRecord["slot"]): HeldRecord | undefined {
    return this.#held(this.#load().bySlot.get(slotName(slot)));
  }

  /** Which record is the newest of its slot; it is not read. */
  newestIn(slot: AttemptRecord["slot"]): string | undefined {
    return this.#load().bySlot.get(slotName(slot))?.record;
  }

  /** Throws DamagedRecord where a record that cannot be read may be of any attempt, so of the one that is asked for. */
  throwIfUnknown(): void {
    this.#load();
    for (const digest of this.#unknown)
      throw new DamagedRecord(digest, "which attempt it is of cannot be told, so it may be this one");
  }

  /**
   * Records of the same stage whose axes agree with `axes` in all but the seed, as there were when this was
   * first asked. A damaged one is passed over: it is told where it is needed, and this is for estimates.
   */
  alike(stage: string, axes: Record<string, string | number>): HeldRecord[] {
    this.#earlier ??= this.readable();
    return this.#earlier.filter(
      ({ record }) =>
        (record.slot.stage === stage || record.slot.stage.startsWith(`${stage}[`)) &&
        Object.entries(axes).every(([axis, value]) => axis === "seed" || record.axes[axis] === value),
    );
  }

  /** All but damaged ones; those are handed to `damaged`. */
  readable(damaged: (digest: string, why: DamagedRecord) => void = () => {}): HeldRecord[] {
    return this.list().flatMap((digest) => {
      try {
        return [{ digest, record: this.read(digest) }];
      } catch (error) {
        if (!(error instanceof DamagedRecord)) throw error;
        damaged(digest, error);
        return [];
      }
    });
  }

  #held(line: Line | undefined): HeldRecord | undefined {
    return line && { digest: line.record, record: this.read(line.record) };
  }

  /** Throws DamagedRecord and NewerFormat. */
  read(digest: string): AttemptRecord {
    let text: string;
    try {
      text = readFileSync(join(this.#records, digest, "record.json"), "utf8");
    } catch {
      throw new DamagedRecord(digest, "its record.json cannot be read");
    }
    const found = createHash("sha256").update(text).digest("hex");
    if (found !== digest) throw new DamagedRecord(digest, "its record.json was changed");
    return this.#parsed(digest, text);
  }

  /** Throws DamagedRecord and NewerFormat. */
  #parsed(digest: string, text: string): AttemptRecord {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw new DamagedRecord(digest, "its record.json is not JSON");
    }
    const { formatVersion, parts } = Object(value) as { formatVersion?: unknown; parts?: unknown };
    checkFormats(digest, {
      format: formatVersion,
      keyFormat: (Object(parts) as { keyFormat?: unknown }).keyFormat,
    });
    if (this.#isChecked(digest)) return value as AttemptRecord;
    const reading = checkFormat(attemptRecord, value);
    if (reading.kind === "unreadable")
      throw new DamagedRecord(digest, `its record.json does not follow its format: ${reading.cause}`);
    this.#checked.add(digest);
    return reading.value;
  }

  #isChecked(digest: string): boolean {
    try {
      this.#load();
    } catch (error) {
      if (!(error instanceof NewerFormat)) throw error; // of another record: who needs all of them is told
    }
    return this.#checked.has(digest);
  }

  /** All records, by digest, in code-unit order. */
  list(): string[] {
    return existsSync(this.#records)
      ? readdirSync(this.#records)
          .filter((name) => /^[0-9a-f]{64}$/.test(name))
          .sort()
      : [];
  }

  /** Keeps an attempt whose outputs are in the store; gives the record's digest. */
  put(record: AttemptRecord, log: string): string {
    const text = `${canonicalJson(record, 2)}\n`;
    const digest = createHash("sha256").update(text).digest("hex");
    const temporary = join(this.#records, `tmp-${processName}-${randomBytes(6).toString("hex")}`);
    const path = join(this.#records, digest);
    try {
      raiseFormat({ state: dirname(dirname(this.#records)) });
      mkdirSync(temporary, { recursive: true });
      const context = { store: this.#store, verified: this.#verified };
      layOutRecord(Object.values(record.outputs), temporary, context);
      // one that was only opened is none: whether it was depends on how long the attempt took
      if (statSync(log, { throwIfNoEntry: false })?.size) cpSync(log, join(temporary, "log"));
      writeWhole(join(temporary, "record.json"), text);
      if (!existsSync(path)) {
        syncFolder(temporary);
        renameSync(temporary, path);
        syncPath(this.#records);
      }
    } finally {
      removeFolder(temporary); // not kept on a disk that was too full for it
    }
    const line = lineOf(digest, record);
    // a run that was killed here may have put it in place already
    if (this.#load().byKey.get(line.key)?.record === digest) return digest;
    this.#remember(line);
    appendFileSync(this.#index, `${canonicalJson(line)}\n`);
    return digest;
  }

  /** Takes in a record that another machine exported, also in place of one that is damaged here; gives what is wrong with it, if anything is. */
  import(from: string, digest: string): string | undefined {
    const path = join(this.#records, digest);
    const verify = () => verifyRecord(digest, { records: this, folder: this.#records, store: this.#store });
    const isHere = existsSync(path);
    if (isHere && verify().left.length === 0) return undefined;
    let record: AttemptRecord;
    let text: string;
    try {
      text = readFileSync(join(from, "record.json"), "utf8");
      if (createHash("sha256").update(text).digest("hex") !== digest)
        return "its record is not what its name says";
      record = this.#parsed(digest, text);
      const context = { store: this.#store, read: new Map<string, string>(), link: false };
      for (const [name, output] of Object.entries(record.outputs)) {
        const problem = takeInRecord(from, [name, output], context);
        if (problem !== undefined) return problem;
      }
    } catch (error) {
      return (error as Error).message;
    }
    if (!isHere) {
      this.put(record, join(from, "log"));
      return undefined;
    }
    // damaged here: its contents are in the cache now, from which each is put back
    writeWhole(join(path, "record.json"), text);
    this.refresh();
    return verify().left[0];
  }

  /** Puts a record's outputs back into the store where they are missing, e.g. after the cache was deleted. */
  ensureStored(digest: string, record: AttemptRecord): void {
    const context = { store: this.#store, read: this.#read, link: true };
    for (const [name, output] of Object.entries(record.outputs)) {
      if (this.#store.canGive(output)) continue;
      const problem = takeInRecord(join(this.#records, digest), [name, output], context);
      if (problem !== undefined) throw new DamagedRecord(digest, `it was changed: ${problem}`);
    }
  }

  #load(): { byKey: Map<string, Line>; bySlot: Map<string, Line> } {
    if (this.#newest) return this.#newest;
    this.#newest = { byKey: new Map(), bySlot: new Map() };
    this.#unknown.clear();
    const known = new Set<string>();
    const text = existsSync(this.#index) ? readFileSync(this.#index, "utf8") : "";
    const present = new Set(this.list());
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
          this.#newest = undefined; // asked again, it must not have been read in part
          throw error;
        }
        // torn by a kill, or empty: the folder itself is read below
      }
    }
    if (text !== "" && !text.endsWith("\n")) this.#addToIndex("\n");
    for (const digest of present) if (!known.has(digest)) this.#learn(digest);
    return this.#newest;
  }

  /** Of a damaged one, what its text still says decides whose it is: that attempt alone cannot be used. */
  #learn(digest: string): void {
    try {
      const line = lineOf(digest, this.read(digest));
      this.#remember(line);
      this.#addToIndex(`${canonicalJson(line)}\n`);
    } catch (error) {
      if (error instanceof NewerFormat) this.#newest = undefined;
      if (!(error instanceof DamagedRecord)) throw error;
      const words = damagedWords(join(this.#records, digest));
      if (words) this.#remember({ ...words, record: digest, slot: slotName(words.slot) });
      else this.#unknown.add(digest);
    }
  }

  /** It only saves reading: one who may look and not write needs none. */
  #addToIndex(text: string): void {
    whereWritable(() => appendFileSync(this.#index, text));
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
