// Reads and writes where records came from, and which records a person chose. Both lie beside the records' folder,
// so that records stay byte for byte as they were made.

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { type RecordChoice, recordChoice } from "@mlrb/formats/attempt/record-choice";
import { type RecordOrigin, recordOrigin } from "@mlrb/formats/attempt/record-origin";
import { readFormat } from "@mlrb/formats/read-format";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { syncPath } from "../store/sync-folder.ts";
import { appendLines, linesOf, readText } from "./decision-log.ts";

/** The origins of imported records by digest. A file that cannot be read still marks its record as imported, unsigned. */
export function readOrigins(attempts: string): Map<string, RecordOrigin> {
  const folder = join(attempts, "origins");
  const found = new Map<string, RecordOrigin>();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const digest = /^([0-9a-f]{64})\.json$/.exec(name)?.[1];
    if (digest === undefined) continue;
    const reading = readFormat(recordOrigin, readText(join(folder, name)));
    found.set(digest, reading.kind === "ok" ? reading.value : unknownOrigin(digest));
  }
  return found;
}

export function writeOrigin(attempts: string, digest: string, origin: RecordOrigin): void {
  const path = originFile(attempts, digest);
  mkdirSync(dirname(path), { recursive: true });
  writeWhole(path, `${canonicalJson(origin, 2)}\n`);
  syncPath(dirname(path));
}

export function originFile(attempts: string, digest: string): string {
  return join(attempts, "origins", `${digest}.json`);
}

/** An own archive for each record: two records of unknown origin are not known to come from one source. */
function unknownOrigin(digest: string): RecordOrigin {
  return { formatVersion: 1, importedAt: "", archive: digest, signedBy: null, signingKey: null };
}

export type Choices = {
  /** Records that a person chose and has not decided against since. */
  chosen: ReadonlySet<string>;
  /** Records that a person decided against and has not chosen since. */
  declined: ReadonlySet<string>;
};

export function readChoices(attempts: string): Choices {
  const chosen = new Set<string>();
  const declined = new Set<string>();
  for (const { record, over } of linesOf(recordChoice, join(attempts, "choices.jsonl"))) {
    chosen.add(record);
    declined.delete(record);
    for (const other of over) {
      chosen.delete(other);
      declined.add(other);
    }
  }
  return { chosen, declined };
}

export function addChoice(attempts: string, choice: Omit<RecordChoice, "formatVersion">): void {
  appendLines(join(attempts, "choices.jsonl"), [{ formatVersion: 1, ...choice }]);
}
