// Materializes the outputs of an attempt in the folder of its record. A large content shares its inode with the
// store and with every other record that has the content. For example, a model of half a gigabyte is in a
// submission, in two snapshots and in the cache. No process writes in either place (ADR 4). Each name alone keeps
// the content. Where the file system refuses a link, the content is copied.

import { chmodSync, constants, copyFileSync } from "node:fs";
import { join } from "node:path";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { hashFile } from "../digests/hash-file.ts";
import type { LargeContent, Store } from "../store/artifact-store.ts";
import { tryLink } from "../store/hard-link.ts";
import type { VerifiedContents } from "../store/verified-contents.ts";
import { linkedBytes } from "./shared-files.ts";

type Context = { store: Store; verified: VerifiedContents };

/** `folder`: the folder of an unfinished record. Every byte is checked. Throws MissingContent. */
export function materializeRecord(
  outputs: readonly (Artifact & { file: string })[],
  folder: string,
  { store, verified }: Context,
): void {
  const large: LargeContent[] = [];
  const files = outputs.reduce((sum, { kind, digest }) => {
    return sum + (kind === "file" ? 1 : store.filesOf(digest).length);
  }, 0);
  for (const { kind, digest, file } of outputs)
    store.restore({ kind, digest }, join(folder, file), {
      later: (content) => large.push(content),
      laterBytes: linkedBytes(files),
    });
  const laid = new Map<string, string>(); // by digest
  for (const content of large) {
    const { digest, to } = content;
    const before = laid.get(digest);
    if (!content.executable && before !== undefined && tryLink(before, to)) continue;
    if (content.executable || !tryLink(content.from, to)) copy(content);
    if (!verified.holds(digest, to) && hashFile(to) !== digest) store.discard(digest);
    if (!content.executable) laid.set(digest, to);
  }
}

/** An inode has one mode, so an executable file is always a copy. */
function copy({ from, to, executable }: LargeContent): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  chmodSync(to, executable ? 0o555 : 0o444);
}
