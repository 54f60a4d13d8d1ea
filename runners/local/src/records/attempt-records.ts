// Attempts are records and not cache: the work of an agent cost money and cannot be recomputed. Each record is an
// immutable folder named by its digest, outside the cache, and is never collected. Large files of a record have other
// names in other records and in the cache (materialize-record). Each name alone keeps the content.

import { createHash, randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AttemptRecord, attemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { checkFormat } from "@mlrb/formats/read-format";
import { readBounded } from "@mlrb/kit/admission/admission-files";
import { readingLimits } from "@mlrb/kit/admission/reading-limits";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { processName } from "@mlrb/kit/processes/process-name";
import type { Store } from "../store/artifact-store.ts";
import { raiseFormat } from "../store/state-folder.ts";
import { syncFolder, syncPath } from "../store/sync-folder.ts";
import type { VerifiedContents } from "../store/verified-contents.ts";
import { DamagedRecord } from "./damaged-record.ts";
import { ingestRecord } from "./import-record.ts";
import { materializeRecord } from "./materialize-record.ts";
import { RecordIndex, recordDigests } from "./record-index.ts";
import { checkFormats, type Line, lineOf } from "./record-line.ts";
import { verifyRecord } from "./verify-record.ts";

export { DamagedRecord } from "./damaged-record.ts";
export { slotName } from "./record-line.ts";

export type HeldRecord = { digest: string; record: AttemptRecord };

export class AttemptRecords {
  readonly #records: string;
  readonly #index: RecordIndex;
  readonly #store: Store;
  readonly #verified: VerifiedContents;
  /** Digests of records' files by inode. */
  readonly #read = new Map<string, string>();
  #earlier: HeldRecord[] | undefined;

  constructor(folder: string, { store, verified }: { store: Store; verified: VerifiedContents }) {
    this.#records = join(folder, "records");
    this.#index = new RecordIndex(folder, (digest) => this.read(digest));
    this.#store = store;
    this.#verified = verified;
  }

  /** Forgets the records that were read: another run may have added records since. */
  refresh(): void {
    this.#index.refresh();
  }

  /** Whether there is a record with this attempt key. The record is not read. */
  has(key: string): boolean {
    return this.#index.byKey(key) !== undefined;
  }

  /** Returns the newest record with this attempt key, in any slot. */
  find(key: string): HeldRecord | undefined {
    return this.#held(this.#index.byKey(key));
  }

  /** Returns the newest record of a slot, whatever its key. */
  inSlot(slot: AttemptRecord["slot"]): HeldRecord | undefined {
    return this.#held(this.#index.bySlot(slot));
  }

  /** Returns the digest of a slot's newest record. The record is not read. */
  newestIn(slot: AttemptRecord["slot"]): string | undefined {
    return this.#index.bySlot(slot)?.record;
  }

  /** Throws DamagedRecord if a record is so damaged that it may belong to any attempt, including the requested one. */
  throwIfUnknown(): void {
    for (const digest of this.#index.unknown())
      throw new DamagedRecord(
        digest,
        "it no longer shows which attempt it belongs to, so it may be this one",
      );
  }

  /**
   * Returns records of the same stage whose axes agree with `axes` in all but the seed, as of the first call. Skips
   * damaged records: they are reported where they are needed, and these records are for estimates.
   */
  alike(stage: string, axes: Record<string, string | number>): HeldRecord[] {
    this.#earlier ??= this.readable();
    return this.#earlier.filter(
      ({ record }) =>
        (record.slot.stage === stage || record.slot.stage.startsWith(`${stage}[`)) &&
        Object.entries(axes).every(([axis, value]) => axis === "seed" || record.axes[axis] === value),
    );
  }

  /** Returns all records except damaged ones, which are passed to `damaged`. */
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
    if (this.#index.isChecked(digest)) return value as AttemptRecord;
    const reading = checkFormat(attemptRecord, value);
    if (reading.kind === "unreadable")
      throw new DamagedRecord(digest, `its record.json does not follow its format: ${reading.cause}`);
    this.#index.checked(digest);
    return reading.value;
  }

  /** Returns the digests of all records, in code-unit order. */
  list(): string[] {
    return recordDigests(this.#records);
  }

  /** Keeps an attempt whose outputs are in the store. Returns the record's digest. */
  put(record: AttemptRecord, log: string): string {
    const text = `${canonicalJson(record, 2)}\n`;
    const digest = createHash("sha256").update(text).digest("hex");
    const temporary = join(this.#records, `tmp-${processName}-${randomBytes(6).toString("hex")}`);
    const path = join(this.#records, digest);
    try {
      raiseFormat({ state: dirname(dirname(this.#records)) });
      mkdirSync(temporary, { recursive: true });
      const context = { store: this.#store, verified: this.#verified };
      materializeRecord(Object.values(record.outputs), temporary, context);
      // an empty log is not kept: whether it was opened depends on how long the attempt took
      if (statSync(log, { throwIfNoEntry: false })?.size) cpSync(log, join(temporary, "log"));
      writeWhole(join(temporary, "record.json"), text);
      if (!existsSync(path)) {
        syncFolder(temporary);
        renameSync(temporary, path);
        syncPath(this.#records);
      }
    } finally {
      removeFolder(temporary); // otherwise the folder stays if the disk was too full
    }
    this.#index.add(lineOf(digest, record));
    return digest;
  }

  /**
   * Ingests a record that another machine exported, also in place of a damaged one here. Returns the problem, or
   * undefined.
   */
  import(from: string, digest: string): string | undefined {
    const path = join(this.#records, digest);
    const verify = () => verifyRecord(digest, { records: this, folder: this.#records, store: this.#store });
    const isHere = existsSync(path);
    if (isHere && verify().left.length === 0) return undefined;
    let record: AttemptRecord;
    let text: string;
    try {
      const bytes = readBounded(join(from, "record.json"), readingLimits.recordBytes);
      if (typeof bytes === "string") return `its record.json: ${bytes}`;
      text = Buffer.from(bytes).toString();
      if (createHash("sha256").update(text).digest("hex") !== digest)
        return "its record is not what its name says";
      record = this.#parsed(digest, text);
      const context = { store: this.#store, read: new Map<string, string>(), link: false };
      for (const [name, output] of Object.entries(record.outputs)) {
        const problem = ingestRecord(from, [name, output], context);
        if (problem !== undefined) return problem;
      }
    } catch (error) {
      return (error as Error).message;
    }
    if (!isHere) {
      this.put(record, join(from, "log"));
      return undefined;
    }
    // damaged here: its contents are in the cache now, and each damaged file is restored from the cache
    writeWhole(join(path, "record.json"), text);
    this.refresh();
    return verify().left[0];
  }

  /** Restores a record's outputs to the store where they are missing, e.g. after the cache was deleted. */
  ensureStored(digest: string, record: AttemptRecord): void {
    const context = { store: this.#store, read: this.#read, link: true };
    for (const [name, output] of Object.entries(record.outputs)) {
      if (this.#store.canGive(output)) continue;
      const problem = ingestRecord(join(this.#records, digest), [name, output], context);
      if (problem !== undefined) throw new DamagedRecord(digest, `it was changed: ${problem}`);
    }
  }
}
