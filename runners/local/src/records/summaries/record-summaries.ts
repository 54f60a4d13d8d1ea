// Remembers what lists and sums show of each record, so that ten thousand records cost a stat each and not a read.
// summaries.jsonl is derived: one line `DIGEST CHECKSUM JSON` for each record that was read. A record's name is the digest of its
// text, so a remembered cost is the record's own. The stat of record.json shows that the text may have been damaged
// since; then the record is read again. So is one whose line is damaged. Lines are parsed only when they are needed.

import { appendFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { writeWhole } from "@mlrb/kit/json-file";
import { ifReadable } from "../../store/if-readable.ts";

/** The fields of a record that lists and sums show. `outputs`: those whose files or digests they look up. */
export type RecordSummary = Pick<
  AttemptRecord,
  "slot" | "axes" | "attemptKey" | "cost" | "estimate" | "interventions" | "ran"
> & { outputs: { submission?: Output; ledger?: Output } };

type Output = { digest: string; file: string };

/** Lines of other versions are ignored, and their records read again: 1 remembered slots that were no names. */
const formatVersion = 2;

type Line = { formatVersion: number; stat: string; summary: RecordSummary };

export class RecordSummaries {
  readonly #records: string;
  readonly #file: string;
  /** Lines by digest; the newest line of a record counts. */
  #lines: Map<string, string> | undefined;
  #lineCount = 0;
  #added: string[] = [];

  /** `folder` holds the summaries and the folder of records. */
  constructor(folder: string) {
    this.#records = join(folder, "records");
    this.#file = join(folder, "summaries.jsonl");
  }

  /** Forgets the lines that were read: another process may have added some since. */
  refresh(): void {
    this.#lines = undefined;
  }

  /** Returns the record's summary; `read` reads the record if it is new or its file has changed, and may throw. */
  of(digest: string, read: (digest: string) => AttemptRecord): RecordSummary {
    // before the read, so that a change during the read leaves an old stat
    const stat = statText(join(this.#records, digest, "record.json"));
    const line = this.#load().get(digest);
    const held = line === undefined ? undefined : parseLine(line);
    if (held && stat !== undefined && held.stat === stat) return held.summary;
    const summary = summaryOf(read(digest));
    if (stat !== undefined) {
      const text = lineText(digest, JSON.stringify({ formatVersion, stat, summary } satisfies Line));
      this.#load().set(digest, text);
      this.#added.push(text);
    }
    return summary;
  }

  /** Writes the summaries that were added. No-op on a read-only state. `all`: the digests of all records. */
  save(all: () => readonly string[]): void {
    const added = this.#added;
    if (added.length === 0) return;
    this.#added = [];
    this.#lineCount += added.length;
    const lines = this.#load();
    const present = all();
    const isLong = this.#lineCount > 2 * present.length;
    const kept = isLong ? present.flatMap((digest) => lines.get(digest) ?? []) : added;
    if (isLong) this.#lineCount = kept.length;
    const text = `${kept.join("\n")}\n`;
    // the first byte ends a line that a kill has torn
    try {
      if (isLong) writeWhole(this.#file, text, { sync: false });
      else appendFileSync(this.#file, `\n${text}`);
    } catch {
      // it only saves time
    }
  }

  #load(): Map<string, string> {
    if (this.#lines) return this.#lines;
    const text = ifReadable(() => readFileSync(this.#file, "utf8")) ?? "";
    const lines = text.split("\n").filter((line) => line !== "");
    this.#lineCount = lines.length;
    this.#lines = new Map(lines.map((line) => [line.slice(0, 64), line]));
    return this.#lines;
  }
}

function summaryOf(record: AttemptRecord): RecordSummary {
  const { slot, axes, attemptKey, cost, estimate, interventions, ran } = record;
  const { submission, ledger } = record.outputs;
  const outputs = {
    ...(submission && { submission: { digest: submission.digest, file: submission.file } }),
    ...(ledger && { ledger: { digest: ledger.digest, file: ledger.file } }),
  };
  return {
    ...{ slot, axes, attemptKey, cost, ran, outputs },
    ...(estimate && { estimate }),
    ...(interventions && { interventions }),
  };
}

function lineText(digest: string, json: string): string {
  return `${digest} ${crc32(digest + json)
    .toString(16)
    .padStart(8, "0")} ${json}`;
}

/** Undefined for a torn or changed line, or one of another version. */
function parseLine(line: string): Line | undefined {
  const [digest, json] = [line.slice(0, 64), line.slice(74)];
  if (lineText(digest, json) !== line) return undefined;
  const held = JSON.parse(json) as Line | null; // damage is excluded, so this module wrote it
  return held?.formatVersion === formatVersion ? held : undefined;
}

/** Includes ctime, which changes with every write to the file. Undefined if there is no file. */
function statText(path: string): string | undefined {
  const stats = ifReadable(() => statSync(path, { throwIfNoEntry: false }));
  return stats && `${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.ino}`;
}
