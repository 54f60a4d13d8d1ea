// Reads every byte of an attempt's record and reports differences from the record. A damaged file is replaced from
// the cache if the cache's content is sound. A file that is still damaged then has no copy here.

import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { processName } from "@mlrb/kit/processes/process-name";
import { artifactDigest } from "../digests/artifact-digest.ts";
import { hashFile } from "../digests/hash-file.ts";
import type { Store } from "../store/artifact-store.ts";
import { sharedBytes } from "../store/content-store.ts";
import { tryLink } from "../store/hard-link.ts";
import { syncPath } from "../store/sync-folder.ts";
import { DamagedRecord } from "./damaged-record.ts";
import { absentFiles, type Thinned } from "./thinned-files.ts";

export type RecordCheck = {
  record: string;
  /** Files that were damaged or missing and are restored, as paths from the record's folder. */
  repaired: string[];
  /** The remaining problems, in words that name the file. */
  left: string[];
  /** How many weights were removed on purpose; the record's digests still cover them. Absent if none. */
  thinned?: number;
};

type Place = {
  /** `read` throws DamagedRecord. */
  records: { read(digest: string): AttemptRecord; thinned(): Thinned };
  folder: string;
  store: Store;
};

/** `folder`: the folder of all records. */
export function verifyRecord(digest: string, { records, folder, store }: Place): RecordCheck {
  const check: RecordCheck = { record: digest, repaired: [], left: [] };
  let outputs: [string, { digest: string; kind: "file" | "dir"; file: string }][];
  try {
    outputs = Object.entries(records.read(digest).outputs);
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    check.left.push("record.json is not what the record's name says");
    return check;
  }
  const below = join(folder, digest);
  const thinned = records.thinned().files.get(digest);
  const isGone = (path: string) => thinned?.has(path) === true && !existsSync(join(below, path));
  const gone = [...(thinned?.keys() ?? [])].filter(isGone).length;
  if (gone > 0) check.thinned = gone;
  const absent = absentFiles(below, thinned);
  for (const [name, output] of outputs) {
    const path = join(below, output.file);
    if (artifactDigest(path, absent) === output.digest) continue;
    for (const known of store.knownFilesOf(output) ?? []) {
      const file = { ...known, path: join(output.file, known.path) };
      if (!isGone(file.path)) repair(file, { below, store, check });
    }
    if (artifactDigest(path, absent) === output.digest) continue;
    if (check.left.length === 0)
      check.left.push(
        `${output.file}: its ${name} ${existsSync(path) ? "is not what the record says" : "is gone"}; without the cache it is unknown which file is damaged`,
      );
  }
  return check;
}

type Wanted = { path: string; digest: string; executable?: true };

/** Replaces a damaged file by the cache's content. The damaged file may be the cache's own file: then both are bad. */
function repair(
  { path, digest, executable }: Wanted,
  { below, store, check }: { below: string; store: Store; check: RecordCheck },
): void {
  const to = join(below, path);
  const isThere = existsSync(to);
  if (isThere && hashFile(to) === digest) return;
  const from = store.pathOf(digest);
  if (!existsSync(from) || hashFile(from) !== digest) {
    check.left.push(`${path} ${isThere ? "is damaged" : "is gone"}, and the cache has no sound copy of it`);
    return;
  }
  mkdirSync(dirname(to), { recursive: true });
  const temporary = join(below, `tmp-${processName}`);
  try {
    if (isThere || executable || statSync(from).size < sharedBytes || !tryLink(from, temporary)) {
      copyFileSync(from, temporary);
      chmodSync(temporary, executable ? 0o555 : 0o444);
    }
    syncPath(temporary);
    renameSync(temporary, to);
    syncPath(dirname(to));
  } finally {
    rmSync(temporary, { force: true });
  }
  check.repaired.push(path);
}
