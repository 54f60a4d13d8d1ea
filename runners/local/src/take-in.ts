// Takes what a stage gave into the store, with large files hashed on several threads first.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { hashFiles, largeBytes } from "./hash-files.ts";
import type { Artifact, Store } from "./store.ts";
import type { VerifiedContents } from "./verified-contents.ts";

/** What is taken is gone from where it was. Throws on links and other things without content of their own. */
export async function takeIn(
  path: string,
  kind: Artifact["kind"],
  { store, verified }: { store: Store; verified: VerifiedContents },
): Promise<Artifact> {
  const large = [...largeFiles(path)];
  const digests = await hashFiles(large);
  const artifact = store.put(path, kind, { move: true, digests });
  if (digests.size > 0)
    verified.add([...digests.values()].map((digest) => ({ digest, path: store.pathOf(digest) })));
  return artifact;
}

/** Plain files with one name only: what has another could change after it was hashed. */
function* largeFiles(path: string): Generator<string> {
  const stats = lstatSync(path);
  if (stats.isFile() && stats.nlink === 1 && stats.size >= largeBytes) yield path;
  else if (stats.isDirectory()) {
    for (const entry of readdirSync(path, { withFileTypes: true }))
      if (entry.isDirectory() || entry.isFile()) yield* largeFiles(join(path, entry.name));
  }
}
