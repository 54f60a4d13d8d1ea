// Materializes artifacts for a stage. Small files are read, checked and written. Large files are checked on
// several threads, then copied off the event loop, or linked where the consumer cannot write to them. Of many
// files (the members of a report), small ones are linked too.

import { chmodSync, rmSync } from "node:fs";
import { constants, copyFile } from "node:fs/promises";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { hashFiles, largeBytes } from "../digests/hash-files.ts";
import { type LargeContent, MissingContent, type Store } from "./artifact-store.ts";
import { tryLinkOver } from "./hard-link.ts";
import type { VerifiedContents } from "./verified-contents.ts";

export type MaterializeOptions = {
  store: Store;
  verified: VerifiedContents;
  /** Called only if a link would be worth it: whether the consumer sees the materialized files read-only. */
  link: () => Promise<boolean>;
};

/**
 * From this count on, small files are linked too. A new file takes 0.1 to 1 ms on ext4, the longer where others
 * were just removed; a name takes 0.02 ms. The read-only mount takes 30 ms, most of it to find out whether it
 * works.
 */
export const manyItems = 100;

/** Returns whether a file was linked; the folder must then be mounted read-only. Throws MissingContent. */
export async function materialize(
  items: readonly { artifact: Artifact; path: string }[],
  { store, verified, link }: MaterializeOptions,
): Promise<boolean> {
  const all: LargeContent[] = [];
  const linksAll = items.length >= manyItems && (await link());
  for (const { artifact, path } of items)
    store.restore(artifact, path, {
      later: (content) => all.push(content),
      ...(linksAll && { laterBytes: 0 }),
    });
  if (all.length === 0) return false;
  const mayLink = linksAll || (await link());
  const { small = [], large = [] } = Object.groupBy(all, ({ bytes }) =>
    bytes < largeBytes ? "small" : "large",
  );
  for (const digest of new Set(small.map((content) => content.digest)))
    if (!store.isWhole({ kind: "file", digest })) throw new MissingContent(`the store lacks ${digest}`);
  await verify(
    large.filter(({ digest, from }) => !verified.holds(digest, from)),
    { store, verified },
  );
  const copied: LargeContent[] = [];
  for (const content of all) {
    // an inode has one mode, so an executable file is never linked
    if (mayLink && !content.executable && tryLinkOver(content.from, content.to)) continue;
    rmSync(content.to, { force: true }); // never write through an existing link
    copied.push(content);
  }
  await Promise.all(copied.map(copy));
  return copied.length < all.length;
}

async function verify(
  large: readonly LargeContent[],
  { store, verified }: Pick<MaterializeOptions, "store" | "verified">,
): Promise<void> {
  const contents = [...new Map(large.map(({ digest, from }) => [digest, { digest, path: from }])).values()];
  const digests = await hashFiles(contents.map(({ path }) => path)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? new MissingContent("the store lost a content") : error;
  });
  for (const { digest, path } of contents) if (digests.get(path) !== digest) store.discard(digest);
  if (contents.length > 0) verified.add(contents);
}

async function copy({ from, to, executable }: LargeContent): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  chmodSync(to, executable ? 0o755 : 0o644);
}
