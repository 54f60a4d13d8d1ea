// Finds published submissions by their digest: in an archive of `attempts export`, whose records name them, or in a folder
// DIGEST for each; on this machine, or in a repository of a hub. What is found there is only a hint: the digest of what is
// copied from it decides.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ScoredPlace } from "../request/scored-target.ts";

export type PublishedSubmissions = {
  /**
   * Where the submission with this digest is; a text is why there is none. `work`: an empty folder, where a downloaded
   * one is put.
   */
  placeOf(digest: string, work: string): Promise<ScoredPlace | string>;
};

/** Throws if `folder` cannot be read. */
export function folderSubmissions(folder: string, named: string): PublishedSubmissions {
  const places = publishedPlaces(folder);
  return { placeOf: async (digest) => places.get(digest) ?? noSubmission(named) };
}

export function noSubmission(named: string): string {
  return `there is no submission with this digest in ${named}`;
}

export const recordBytesMax = 16 << 20;

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
  return digestInRecord(readFileSync(path, "utf8"));
}

/** Undefined if the text is no such record. */
export function digestInRecord(text: string): string | undefined {
  try {
    const { outputs } = JSON.parse(text);
    const digest = outputs?.submission?.digest;
    return typeof digest === "string" ? digest : undefined;
  } catch {
    return undefined; // the digest of the copy will differ
  }
}
