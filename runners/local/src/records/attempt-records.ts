// Attempts are records and not cache: the work of an agent cost money and cannot be recomputed. Each record is an
// immutable folder named by its digest, outside the cache, and is never collected. Large files of a record have
// other names in other records and in the cache (materialize-record). Each name alone keeps the content.

import { hash, randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { RecordOrigin } from "@mlrb/formats/attempt/record-origin";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { writeWhole } from "@mlrb/kit/json-file";
import { processName } from "@mlrb/kit/processes/process-name";
import type { Store } from "../store/artifact-store.ts";
import { ifReadable } from "../store/if-readable.ts";
import { syncFolder, syncPath } from "../store/sync-folder.ts";
import type { VerifiedContents } from "../store/verified-contents.ts";
import { ingestRecord } from "./archives/import-record.ts";
import { readImported } from "./archives/read-imported.ts";
import { DamagedRecord } from "./damaged-record.ts";
import type { Damaged, HeldRecord, ImportEnd, ImportedFrom, RecordSearch } from "./held-record.ts";
import { materializeRecord } from "./materialize-record.ts";
import { parseRecord, recordText } from "./parse-record.ts";
import { recordNames, searchRecords } from "./rank-records.ts";
import { RecordIndex, type SomeSlots } from "./record-index.ts";
import { lineOf } from "./record-line.ts";
import { addChoice, originFile } from "./record-origins.ts";
import { absentFiles, type Thinned } from "./thinned-files.ts";
import { verifyRecord } from "./verify-record.ts";

export { DamagedRecord } from "./damaged-record.ts";
export type { HeldRecord, ImportEnd, ImportedFrom, RecordSearch } from "./held-record.ts";
export { slotName } from "./record-line.ts";

export class AttemptRecords extends RecordIndex {
  readonly #store: Store;
  readonly #verified: VerifiedContents;
  /** Digests of records' files by inode. */
  readonly #read = new Map<string, string>();
  #earlier: HeldRecord[] | undefined;

  constructor(folder: string, { store, verified }: { store: Store; verified: VerifiedContents }) {
    super(folder);
    this.#store = store;
    this.#verified = verified;
  }

  /** Whether there is a record with this attempt key, used or undecided. The record is not read. */
  has(key: string): boolean {
    const { current, undecided } = this.byKey(key);
    return current !== undefined || undecided.length > 0;
  }

  /** Returns the current record with this attempt key, in any slot. */
  find(key: string): HeldRecord | undefined {
    const { current } = this.byKey(key);
    return current && this.#held(current.record);
  }

  /** Returns the current record of a slot, whatever its key. */
  inSlot(slot: AttemptRecord["slot"]): HeldRecord | undefined {
    const { current } = this.bySlot(slot);
    return current && this.#held(current.record);
  }

  /** Returns the digest of a slot's current record. The record is not read. */
  currentIn(slot: AttemptRecord["slot"]): string | undefined {
    return this.bySlot(slot).current?.record;
  }

  /** Whether a content was removed from a record on purpose, so that it may be missing. */
  readonly isThinned = (content: string): boolean => this.thinned().contents.has(content);

  /**
   * Searches the record for an attempt: first by key, then by slot. An imported record is never used in place of
   * one that was made here or chosen.
   */
  search(key: string, slot: AttemptRecord["slot"]): RecordSearch {
    const found = { byKey: this.byKey(key), bySlot: this.bySlot(slot) };
    return searchRecords(found, ({ record }) => this.#held(record));
  }

  /** Imported records of the record's slot or key that nobody has decided about, and that are not current. */
  undecidedWith({ record: { attemptKey, slot } }: HeldRecord): string[] {
    return recordNames([...this.byKey(attemptKey).undecided, ...this.bySlot(slot).undecided]);
  }

  /** Makes a record the current one instead of `over`. What is made here later still wins over it. */
  choose(digest: string, over: readonly string[], chosenAt: string): void {
    addChoice(this.folder, { chosenAt, record: digest, over: [...over] });
    this.refresh();
  }

  /** Throws DamagedRecord if a record is so damaged that it may belong to any attempt, including the requested one. */
  throwIfUnknown(): void {
    for (const digest of this.unknown())
      throw new DamagedRecord(
        digest,
        "it no longer shows which attempt it belongs to, so it may be this one",
      );
  }

  /**
   * Returns records of the same stage whose axes agree with `axes` in all but the seed, as of the first call.
   * Skips damaged records: they are reported where they are needed, and these records are for estimates. Skips
   * imported ones: an estimate is a limit on what may be spent, and an imported record may state any cost.
   */
  alike(stage: string, axes: Record<string, string | number>): HeldRecord[] {
    this.#earlier ??= this.readable().filter(({ origin }) => origin === undefined);
    return this.#earlier.filter(
      ({ record }) =>
        (record.slot.stage === stage || record.slot.stage.startsWith(`${stage}[`)) &&
        Object.entries(axes).every(([axis, value]) => axis === "seed" || record.axes[axis] === value),
    );
  }

  /**
   * Returns all records except damaged ones, which are passed to `damaged`. `of`: only records of these slots.
   */
  readable(damaged: Damaged = () => {}, of?: SomeSlots): HeldRecord[] {
    return (of ? this.inSlots(of) : this.list()).flatMap((digest) => {
      try {
        return [this.#held(digest)];
      } catch (error) {
        if (!(error instanceof DamagedRecord)) throw error;
        damaged(digest, error);
        return [];
      }
    });
  }

  #held(digest: string): HeldRecord {
    const record = this.read(digest);
    const origin = this.originOf(digest);
    const decisions = this.decisionsOn(digest);
    return { digest, record, ...(origin && { origin }), ...(decisions.length > 0 && { decisions }) };
  }

  /** Throws DamagedRecord and OtherFormat. */
  read(digest: string): AttemptRecord {
    const text = ifReadable(() => readFileSync(join(this.records, digest, "record.json"), "utf8"));
    if (text === undefined) throw new DamagedRecord(digest, "its record.json cannot be read");
    const found = hash("sha256", text);
    if (found !== digest) throw new DamagedRecord(digest, "its record.json was changed");
    return parseRecord(digest, text, this);
  }

  /** Keeps an attempt whose outputs are in the store. Returns the record's digest. */
  put(record: AttemptRecord, log: string): string {
    const text = recordText(record);
    const digest = hash("sha256", text);
    const temporary = join(this.records, `tmp-${processName}-${randomBytes(6).toString("hex")}`);
    const path = join(this.records, digest);
    try {
      mkdirSync(temporary, { recursive: true });
      const context = { store: this.#store, verified: this.#verified };
      materializeRecord(Object.values(record.outputs), temporary, context);
      // an empty log is not kept: whether it was opened depends on how long the attempt took
      if (statSync(log, { throwIfNoEntry: false })?.size) cpSync(log, join(temporary, "log"));
      writeWhole(join(temporary, "record.json"), text);
      if (!existsSync(path)) {
        syncFolder(temporary);
        renameSync(temporary, path);
        syncPath(this.records);
      }
    } finally {
      removeFolder(temporary); // otherwise the folder stays if the disk was too full
    }
    this.add(lineOf(digest, record));
    return digest;
  }

  /** Ingests a record that another machine exported, also in place of a damaged one here, or one without its weights. */
  import(folder: string, digest: string, from: ImportedFrom, now: Date): ImportEnd {
    const path = join(this.records, digest);
    const verify = (records: Pick<AttemptRecords, "read" | "thinned"> = this) =>
      verifyRecord(digest, { records, folder: this.records, store: this.#store });
    const isHere = existsSync(path);
    const origin: RecordOrigin = { formatVersion: 1, importedAt: now.toISOString(), ...from };
    const check = isHere ? verify() : undefined;
    if (check?.left.length === 0 && check.thinned === undefined) {
      const before = this.originOf(digest);
      if (before?.signedBy === null && from.signedBy !== null) this.setOrigin(digest, origin);
      return { kind: "here" };
    }
    const parse = (text: string) => parseRecord(digest, text, this);
    const read = readImported(folder, digest, { now, parse, store: this.#store });
    if ("problem" in read) return { kind: "refused", ...read };
    if (!isHere) {
      // before the record, so that a kill in between leaves no imported record that counts as made here
      this.setOrigin(digest, origin);
      try {
        this.put(read.record, join(folder, "log"));
      } catch (error) {
        if (!existsSync(path)) rmSync(originFile(this.folder, digest), { force: true });
        throw error;
      }
      return { kind: "imported" };
    }
    // its contents are in the cache now, and each damaged or thinned file is restored from the cache
    writeWhole(join(path, "record.json"), read.text);
    this.refresh();
    const unthinned: Thinned = { files: new Map(), contents: new Map() };
    const [problem] = verify({ read: (one) => this.read(one), thinned: () => unthinned }).left;
    return problem === undefined ? { kind: "restored" } : { kind: "refused", problem };
  }

  /**
   * Restores a record's outputs to the store where they are missing, e.g. after the cache was deleted. Thinned
   * files stay away.
   */
  ensureStored(digest: string, record: AttemptRecord): void {
    const absent = absentFiles(join(this.records, digest), this.thinned().files.get(digest));
    // a thinned file may be there again, from an archive
    const gone = new Set([...absent].flatMap(([path, file]) => (existsSync(path) ? [] : [file.digest])));
    const context = { store: this.#store, read: this.#read, link: true, absent };
    for (const [name, output] of Object.entries(record.outputs)) {
      if (this.#store.canGive(output, (content) => gone.has(content))) continue;
      const problem = ingestRecord(join(this.records, digest), [name, output], context);
      if (problem !== undefined) throw new DamagedRecord(digest, `it was changed: ${problem}`);
    }
  }
}
