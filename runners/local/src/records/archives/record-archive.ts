// An archive of records: a folder that `attempts export` wrote, with one folder for each record. Its content
// digest covers every byte that an import reads: a record's name is the digest of its record.json, which holds the
// digests of all outputs; the log has no digest there.

import { hash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ReadingLimit, readingLimits } from "@mlrb/kit/admission/reading-limits";
import { canonicalJson } from "@mlrb/kit/json-file";
import { hashFile } from "../../digests/hash-file.ts";
import { adjudicationsFile, hasAdjudications } from "../adjudications.ts";
import { recordDigests } from "../record-index.ts";

const signatureBytesMax = 64 << 10;

/** The file in an archive that holds the signature of its digest. */
export const signatureFile = "archive.sig";

/**
 * `folder` holds the records, of which `digests` are covered, and `decisions` the file of people's decisions. By
 * default an archive is covered whole.
 */
export function archiveDigest(
  folder: string,
  { digests = recordDigests(folder), decisions = folder }: { digests?: string[]; decisions?: string } = {},
): string {
  const records = digests.map((record) => [record, { log: logDigest(join(folder, record)) }]);
  // archives without decisions keep the digest that they had before decisions existed
  const decided = hasAdjudications(decisions) && {
    adjudications: boundedDigest(join(decisions, adjudicationsFile), readingLimits.adjudicationsBytes),
  };
  const content = { formatVersion: 1, records: Object.fromEntries(records), ...decided };
  return hash("sha256", canonicalJson(content));
}

/** The text of an archive's signature; undefined if it has none. Throws if it is not a small plain file. */
export function archiveSignature(folder: string): string | undefined {
  const path = join(folder, signatureFile);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if (!stats.isFile() || stats.size > signatureBytesMax) throw new Error(`${path} is not a signature`);
  return readFileSync(path, "utf8");
}

function logDigest(record: string): string | null {
  if (!lstatSync(record, { throwIfNoEntry: false })?.isDirectory()) return null;
  return boundedDigest(join(record, "log"), readingLimits.recordLogBytes);
}

/** Null without such a file, and for a large one or anything else than a plain file, which an import refuses. */
function boundedDigest(path: string, { max }: ReadingLimit): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() && stats.size <= max ? hashFile(path) : null;
}
