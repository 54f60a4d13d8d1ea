// Puts the outputs in a record's folder into the store. The record was imported, or its contents are no longer in
// the cache. A large content with several names is read once.

import { join } from "node:path";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import type { AbsentFiles } from "../../digests/artifact-digest.ts";
import type { Store } from "../../store/artifact-store.ts";

type Output = Artifact & { file: string };

type Context = {
  store: Store;
  /** Digests by inode, kept across all records that share files. */
  read: Map<string, string>;
  /** Whether the folder belongs to this state, so that the store may share its files. */
  link: boolean;
  /** Files that were removed on purpose. */
  absent?: AbsentFiles;
};

/** Returns the problem of an output that differs from the record, in words. Throws on errors of the machine. */
export function ingestRecord(
  folder: string,
  [name, output]: [string, Output],
  { store, read, link, absent }: Context,
): string | undefined {
  let found: Artifact;
  try {
    found = store.put(join(folder, output.file), output.kind, { link, read, ...(absent && { absent }) });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return `its ${name} is gone`;
    if (code !== undefined) throw error;
    return `its ${name} ${message}`;
  }
  if (found.digest === output.digest) return undefined;
  return `its ${name} is not what its record says${differing(found, output, store)}`;
}

const shown = 3;

/** Lists the files that differ, if the store still knows their expected digests. */
function differing(found: Artifact, wanted: Artifact, store: Store): string {
  if (wanted.kind === "file") return "";
  const there = new Map(store.knownFilesOf(found)?.map(({ path, digest }) => [path, digest]));
  const files = (store.knownFilesOf(wanted) ?? []).filter(({ path, digest }) => there.get(path) !== digest);
  if (files.length === 0) return "";
  const more = files.length > shown ? ` and ${files.length - shown} more` : "";
  const names = files.slice(0, shown).map(({ path }) => path);
  return ` (${names.join(", ")}${more})`;
}
