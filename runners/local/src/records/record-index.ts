// Finds the records of each attempt key and of each slot without reading the records, and ranks them. The folders
// of the records are the truth. index.jsonl only saves reading them: a line that was changed is dropped, and
// records that it lacks are read and added.

import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { counted } from "@mlrb/core/text/counted";
import type { MemberDecision } from "@mlrb/formats/attempt/adjudication";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { RecordOrigin } from "@mlrb/formats/attempt/record-origin";
import { writeWhole } from "@mlrb/kit/json-file";
import { OtherFormat } from "../store/other-format.ts";
import { whereWritable } from "../store/read-only-state.ts";
import { readAdjudications } from "./adjudications.ts";
import { DamagedRecord, damagedWords } from "./damaged-record.ts";
import type { HeldRecord } from "./held-record.ts";
import { decisionsOf } from "./rank-adjudications.ts";
import { type Ranking, rankRecords, recordNames } from "./rank-records.ts";
import { checkFormats, indexLine, type Line, lineOf, parseIndexLine, slotName } from "./record-line.ts";
import { type Choices, readChoices, readOrigins, writeOrigin } from "./record-origins.ts";
import { readThinned, type Thinned } from "./thinned-files.ts";

type Loaded = {
  byKey: Map<string, Line[]>;
  bySlot: Map<string, Line[]>;
  origins: Map<string, RecordOrigin>;
  choices: Choices;
  decisions: Map<string, MemberDecision[]>;
  thinned: Thinned;
};

/** The slots of a pipeline and profile, or of a stage instance in any. */
export type SomeSlots = Pick<AttemptRecord["slot"], "pipeline" | "profile"> | { stage: string };

export abstract class RecordIndex {
  /** Holds the index and the folder of records. */
  protected readonly folder: string;
  protected readonly records: string;
  readonly #file: string;
  #loaded: Loaded | undefined;
  /**
   * Records that follow their format. Those that the index names were written here, imported, or checked before
   * they were added, and their digest pins them. A `status` therefore checks none again.
   */
  readonly #checked = new Set<string>();
  /** Damaged records that no longer show their attempt. */
  readonly #unknown = new Set<string>();

  constructor(folder: string) {
    this.folder = folder;
    this.records = join(folder, "records");
    this.#file = join(folder, "index.jsonl");
  }

  /** Throws DamagedRecord and OtherFormat. */
  abstract read(digest: string): AttemptRecord;

  /** Returns the digests of all records, in code-unit order. */
  list(): string[] {
    return recordDigests(this.records);
  }

  /** Forgets the records that were read: another run may have added records since. */
  refresh(): void {
    this.#loaded = undefined;
  }

  protected byKey(key: string): Ranking {
    const loaded = this.#load();
    return rankRecords(loaded.byKey.get(key) ?? [], loaded);
  }

  protected bySlot(slot: AttemptRecord["slot"]): Ranking {
    const loaded = this.#load();
    return rankRecords(loaded.bySlot.get(slotName(slot)) ?? [], loaded);
  }

  /** The digests of the other records of the same slot or key, whatever was decided about them. */
  competing({ digest, record: { attemptKey, slot } }: HeldRecord): string[] {
    const { byKey, bySlot } = this.#load();
    const all = [...(byKey.get(attemptKey) ?? []), ...(bySlot.get(slotName(slot)) ?? [])];
    return recordNames(all).filter((other) => other !== digest);
  }

  /** In code-unit order; a name with a space may add others. */
  protected inSlots(of: SomeSlots): string[] {
    const [start, end] = "stage" in of ? ["", ` ${of.stage}`] : [slotName({ ...of, stage: "" }), ""];
    return [...this.#load().bySlot]
      .filter(([slot]) => slot.startsWith(start) && slot.endsWith(end))
      .flatMap(([, lines]) => lines.map(({ record }) => record))
      .sort();
  }

  /** Where a record came from; undefined if it was made here. */
  originOf(digest: string): RecordOrigin | undefined {
    return this.#load().origins.get(digest);
  }

  /** People's decisions on rules for this record, oldest first. */
  decisionsOn(digest: string): MemberDecision[] {
    return this.#load().decisions.get(digest) ?? [];
  }

  /** Weights that were removed from records on purpose. */
  thinned(): Thinned {
    return this.#load().thinned;
  }

  protected setOrigin(digest: string, origin: RecordOrigin): void {
    writeOrigin(this.folder, digest, origin);
    this.#load().origins.set(digest, origin);
  }

  protected unknown(): ReadonlySet<string> {
    this.#load();
    return this.#unknown;
  }

  isChecked(digest: string): boolean {
    try {
      this.#load();
    } catch (error) {
      if (!(error instanceof OtherFormat)) throw error; // an error of another record, which is reported where that record is needed
    }
    return this.#checked.has(digest);
  }

  checked(digest: string): void {
    this.#checked.add(digest);
  }

  /** Adds a record that was just put in place. */
  protected add(line: Line): void {
    // a run that was killed here may have put the record in place already
    if (
      this.#load()
        .byKey.get(line.key)
        ?.some(({ record }) => record === line.record)
    )
      return;
    this.#remember(line);
    appendFileSync(this.#file, `${indexLine(line)}\n`);
  }

  /** Compares each line with its record. Returns the records of lines that differ, and drops the index if there is one. */
  wrongLines(): string[] {
    const wrong = this.#all().filter((line) => {
      try {
        return indexLine(lineOf(line.record, this.read(line.record))) !== indexLine(line);
      } catch (error) {
        if (error instanceof DamagedRecord) return false; // the line may be all that is known of it
        throw error;
      }
    });
    if (wrong.length > 0) whereWritable(() => rmSync(this.#file, { force: true }));
    this.refresh();
    return wrong.map(({ record }) => record);
  }

  #all(): Line[] {
    return [...this.#load().byKey.values()].flat();
  }

  #load(): Loaded {
    if (this.#loaded) return this.#loaded;
    const [origins, choices] = [readOrigins(this.folder), readChoices(this.folder)];
    const decisions = new Map(
      [...readAdjudications(this.folder)].map(([record, lines]) => [
        record,
        decisionsOf(lines, origins.get(record)),
      ]),
    );
    const thinned = readThinned(this.folder);
    this.#loaded = { byKey: new Map(), bySlot: new Map(), origins, choices, decisions, thinned };
    this.#unknown.clear();
    const text = existsSync(this.#file) ? readFileSync(this.#file, "utf8") : "";
    const lines = text
      .split("\n")
      .filter((line) => line !== "")
      .map(parseIndexLine);
    const present = new Set(this.list());
    const held = lines.filter((line) => line !== undefined && present.has(line.record)) as Line[];
    const dropped = lines.filter((line) => line === undefined).length;
    try {
      for (const line of held) {
        checkFormats(line.record, line);
        this.#remember(line);
        this.#checked.add(line.record);
      }
      const unread = present.difference(new Set(held.map(({ record }) => record)));
      const learned = [...unread].flatMap((digest) => this.#learn(digest));
      const isWhole = dropped === 0 && (text === "" || text.endsWith("\n"));
      const kept = isWhole ? [] : held.map(indexLine);
      const added = [...kept, ...learned].map((line) => `${line}\n`).join("");
      whereWritable(() => {
        if (!isWhole) writeWhole(this.#file, added);
        else if (added !== "") appendFileSync(this.#file, added);
      });
    } catch (error) {
      this.#loaded = undefined; // a later call must not find a partly read index
      throw error;
    }
    if (dropped > 0)
      process.stderr.write(
        `dropped ${counted(dropped, "line")} of attempts/index.jsonl, torn or not as the record says: the records decide\n`,
      );
    return this.#loaded;
  }

  /** Returns its line, none for a damaged record, whose remaining text decides which attempt cannot be used. */
  #learn(digest: string): string[] {
    try {
      const line = lineOf(digest, this.read(digest));
      this.#remember(line);
      return [indexLine(line)];
    } catch (error) {
      if (!(error instanceof DamagedRecord)) throw error;
      const words = damagedWords(join(this.records, digest));
      if (words) this.#remember({ ...words, record: digest, slot: slotName(words.slot) });
      else this.#unknown.add(digest);
      return [];
    }
  }

  #remember(line: Line): void {
    const { byKey, bySlot } = this.#load();
    for (const [map, name] of [
      [byKey, line.key],
      [bySlot, line.slot],
    ] as const) {
      const held = map.get(name);
      if (!held) map.set(name, [line]);
      else if (!held.some(({ record }) => record === line.record)) held.push(line);
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
