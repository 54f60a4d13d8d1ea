// Ingests outputs into the store. Large files are first hashed, or copied where necessary, on several threads. A
// content with several names, in one output or in two, is read once and moved, not copied.

import { rmSync, type Stats } from "node:fs";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { copyFiles, hashFiles, largeBytes } from "../digests/hash-files.ts";
import { checkSize, givenFiles, OddOutput } from "../stage/inspect-outputs.ts";
import type { Store } from "./artifact-store.ts";
import { inodeOf, isSealed, type MadeCopy, sharedBytes } from "./content-store.ts";
import type { VerifiedContents } from "./verified-contents.ts";

type StageOutput = { name: string; path: string; kind: Artifact["kind"] };

type Ingested = { outputs: Record<string, Artifact> } | { name: string; problem: string };

type Context = { store: Store; verified: VerifiedContents };

/** Ingested files are removed from their place. Throws on links and other entries without content of their own. */
export async function ingest(path: string, kind: Artifact["kind"], context: Context): Promise<Artifact> {
  const taken = await ingestAll([{ name: "it", path, kind }], context);
  if ("problem" in taken) throw new Error(taken.problem);
  return taken.outputs.it!;
}

export type IngestOptions = {
  keep?: boolean;
  /** With `keep`: the size in bytes from which a file that no user can write gets a second name. */
  linkBytes?: number;
  /** Aborts while large files are read: `ingest` then throws an AbortError and has ingested nothing. */
  signal?: AbortSignal;
  /** Limit of the total bytes; without `keep`, at most the bytes that the disk could hold. */
  bytesMax?: number | undefined;
};

/**
 * Ingests several outputs, and reports which output cannot be ingested and why. Throws on errors of the machine.
 * With `keep` all files also stay in their place, so that a second call returns the same. Small files are copied;
 * large files that no user can write get a second name.
 */
export async function ingestAll(
  all: readonly StageOutput[],
  { store, verified }: Context,
  { keep = false, linkBytes = sharedBytes, signal, bytesMax }: IngestOptions = {},
): Promise<Ingested> {
  const stats = new Map<string, Stats>();
  for (const { name, path } of all) {
    try {
      givenFiles(path, stats);
      if (!keep) checkSize(stats, bytesMax);
    } catch (error) {
      if (error instanceof OddOutput) return { name, problem: error.message };
      throw error;
    }
  }
  const names = namesOf(stats);
  const large = [...stats].filter(([, one]) => one.isFile() && one.size >= largeBytes);
  // a file with a name elsewhere is not moved: it could be changed there after it was hashed
  const own = keep ? large : large.filter(([, one]) => one.nlink === (names.get(inodeOf(one)) ?? 1));
  const digests = await largeDigests(own, signal);
  await removeDamaged(new Set(digests.values()), { store, verified });
  const copied = large.filter(([path, one]) => {
    const digest = digests.get(path);
    return digest === undefined || (keep && !isSealed(one) && !store.has(digest));
  });
  const copies = new Map<string, MadeCopy>();
  try {
    for (const [path] of copied) digests.delete(path); // the file may change until it is copied
    await copyLarge(copied, { store, copies, signal });
    await removeDamaged(new Set([...copies.values()].map(({ digest }) => digest)), { store, verified });
    const read = new Map([...digests].map(([path, digest]) => [inodeOf(stats.get(path)!), digest]));
    const how = keep
      ? { link: true, linkBytes, read, stats, copies }
      : { move: true, digests, stats, names, copies };
    const outputs: Record<string, Artifact> = {};
    for (const { name, path, kind } of all) {
      try {
        outputs[name] = store.put(path, kind, how);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== undefined) throw error;
        return { name, problem: (error as Error).message };
      }
    }
    const taken = new Set([...digests.values(), ...[...copies.values()].map(({ digest }) => digest)]);
    if (taken.size > 0) verified.add([...taken].map((digest) => ({ digest, path: store.pathOf(digest) })));
    return { outputs };
  } finally {
    for (const { path } of copies.values()) rmSync(path, { force: true });
  }
}

/** How many names of a file are ingested, for files that have several. */
function namesOf(stats: ReadonlyMap<string, Stats>): Map<string, number> {
  const names = new Map<string, number>();
  for (const one of stats.values()) {
    if (!one.isFile() || one.nlink === 1) continue;
    const inode = inodeOf(one);
    names.set(inode, (names.get(inode) ?? 0) + 1);
  }
  return names;
}

type Large = readonly (readonly [path: string, stats: Stats])[];

/** Digests by path. A file with several names is read once. */
async function largeDigests(large: Large, signal: AbortSignal | undefined): Promise<Map<string, string>> {
  const first = firstNames(large);
  const read = await hashFiles([...first.values()], signal);
  return new Map(large.map(([path, one]) => [path, read.get(first.get(inodeOf(one))!)!]));
}

/**
 * Copies each file into the store's folder and adds the copy to `copies` by inode. Copies that were begun are in
 * `copies` even if this function throws.
 */
async function copyLarge(
  large: Large,
  { store, copies, signal }: { store: Store; copies: Map<string, MadeCopy>; signal: AbortSignal | undefined },
): Promise<void> {
  const first = firstNames(large);
  for (const inode of first.keys()) copies.set(inode, { path: store.temporary(), digest: "" });
  const jobs = new Map([...first].map(([inode, path]) => [path, copies.get(inode)!.path]));
  const digests = await copyFiles(jobs, signal);
  for (const [inode, path] of first) copies.get(inode)!.digest = digests.get(path)!;
}

/** A path of each inode. */
function firstNames(large: Large): Map<string, string> {
  const first = new Map<string, string>();
  for (const [path, one] of large) if (!first.has(inodeOf(one))) first.set(inodeOf(one), path);
  return first;
}

/** Removes damaged contents, which the store would otherwise keep. An attempt's ingested file is its only good copy. */
async function removeDamaged(digests: ReadonlySet<string>, { store, verified }: Context): Promise<void> {
  const held = [...digests].filter((digest) => {
    return store.has(digest) && !verified.holds(digest, store.pathOf(digest));
  });
  const found = await hashFiles(held.map((digest) => store.pathOf(digest)));
  for (const digest of held) if (found.get(store.pathOf(digest)) !== digest) store.remove(digest);
}
