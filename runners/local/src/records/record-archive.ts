// An archive of records: a folder that `attempts export` wrote, with one folder for each record. Its content digest
// covers every byte that an import reads: a record's name is the digest of its record.json, which holds the digests of
// all outputs; the log has no digest there.

import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { hashFile } from "../digests/hash-file.ts";
import { recordDigests } from "./record-index.ts";

export function archiveDigest(folder: string): string {
  const records = recordDigests(folder).map((record) => [record, { log: logDigest(join(folder, record)) }]);
  const content = { formatVersion: 1, records: Object.fromEntries(records) };
  return createHash("sha256").update(canonicalJson(content)).digest("hex");
}

/** Null without a log, and for anything else than a plain file, which an import refuses. */
function logDigest(record: string): string | null {
  const path = join(record, "log");
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? hashFile(path) : null;
}
