// Takes what a stage gave into the store, with large files hashed on several threads first.
import { lstatSync, readdirSync, type Stats } from "node:fs";
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
  const stats = new Map<string, Stats>();
  lookThrough(path, stats);
  const digests = await hashFiles([...stats].filter(([, one]) => isLarge(one)).map(([at]) => at));
  const artifact = store.put(path, kind, { move: true, digests, stats });
  if (digests.size > 0)
    verified.add([...digests.values()].map((digest) => ({ digest, path: store.pathOf(digest) })));
  return artifact;
}

function lookThrough(path: string, found: Map<string, Stats>): void {
  const stats = lstatSync(path);
  found.set(path, stats);
  if (stats.isDirectory()) for (const name of readdirSync(path)) lookThrough(join(path, name), found);
}

/** Of plain files with one name only: what has another could change after it was hashed. */
function isLarge(stats: Stats): boolean {
  return stats.isFile() && stats.nlink === 1 && stats.size >= largeBytes;
}
