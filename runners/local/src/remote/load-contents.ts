// Loads contents from a remote cache into the local store.
import { rmSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { formatBytes } from "@mlrb/core/text/units";
import { largeBytes } from "../digests/hash-files.ts";
import type { Workspace } from "../store/workspace.ts";
import { forAll } from "./for-all.ts";
import type { RemoteClient } from "./remote-client.ts";
import { RemoteTrouble } from "./remote-trouble.ts";

type From = Pick<Workspace, "store" | "verified"> & {
  client: RemoteClient;
  /** Gets the contents that the server has under their digests with other bytes. */
  spoilt: Set<string>;
  atOnce: number;
  signal: AbortSignal;
  /** Called with the bytes that are loaded, if there are any. */
  loading?: (bytes: number) => void;
};

/** Loads those that the store lacks; returns their bytes. `contents`: bytes by digest. */
export async function loadContents(contents: Record<string, number>, from: From): Promise<number> {
  const { store, loading } = from;
  const missing = Object.entries(contents).filter(([digest]) => !store.has(digest));
  const total = missing.reduce((sum, [, bytes]) => sum + bytes, 0);
  if (total > 0) {
    refuseWithoutRoom(dirname(store.temporary()), total);
    loading?.(total);
  }
  await forAll(missing, from, ([digest, bytes], signal) =>
    loadContent({ digest, bytes }, { ...from, signal }),
  );
  return total;
}

/** A disk that a download fills would end the attempts and stages that run meanwhile. */
function refuseWithoutRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bytes <= bavail * bsize) return;
  const message = `a result has ${formatBytes(bytes)}, more than the disk has room for; it is made here`;
  throw Object.assign(new Error(message), { code: "ENOSPC" });
}

async function loadContent(
  { digest, bytes }: { digest: string; bytes: number },
  { store, verified, client, spoilt, signal }: From,
): Promise<void> {
  const to = store.temporary();
  try {
    await client.download({ digest, bytes, to, signal });
    store.putFile(to, { move: true, digests: new Map([[to, digest]]) });
    if (bytes >= largeBytes) verified.add([{ digest, path: store.pathOf(digest) }]);
  } catch (error) {
    if (error instanceof RemoteTrouble && error.kind === "wrong-bytes") spoilt.add(digest);
    throw error;
  } finally {
    rmSync(to, { force: true });
  }
}
