// Finds published submissions by their digest: in an archive of `attempts export`, whose records name them, or in a folder
// DIGEST for each. What the folder says is only a hint: the digest of what is copied from it decides.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ScoredPlace } from "../request/scored-target.ts";

const recordBytesMax = 16 << 20;

/** Where each submission is, by digest. Throws if `folder` cannot be read. */
export function publishedPlaces(folder: string): Map<string, ScoredPlace> {
  const places = new Map<string, ScoredPlace>();
  for (const name of readdirSync(folder).filter((each) => /^[0-9a-f]{64}$/.test(each))) {
    const recorded = recordedDigest(join(folder, name, "record.json"));
    if (recorded === undefined) places.set(name, { path: folder, inside: name });
    else places.set(recorded, { path: folder, inside: `${name}/submission` });
  }
  return places;
}

/** The digest of the submission that a record names; undefined if there is no such record. */
function recordedDigest(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile() || stats.size > recordBytesMax) return undefined;
  try {
    const { outputs } = JSON.parse(readFileSync(path, "utf8"));
    const digest = outputs?.submission?.digest;
    return typeof digest === "string" ? digest : undefined;
  } catch {
    return undefined; // the digest of the copy will differ
  }
}
