// Loads contents from a remote cache into the local store.
import { rmSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { formatBytes } from "@mlrb/core/text/units";
import { largeBytes } from "../digests/hash-files.ts";
import type { Workspace } from "../store/workspace.ts";
import { forAll } from "./for-all.ts";
import type { RemoteClient } from "./remote-client.ts";

type From = Pick<Workspace, "store" | "verified"> & {
  client: RemoteClient;
  atOnce: number;
  /** Bytes that downloads of this run have yet to write, all together. */
  promised: { bytes: number };
  signal: AbortSignal;
  /** Called with the bytes that are loaded, if there are any. */
  loading?: (bytes: number) => void;
};

/** Loads those that the store lacks; returns their bytes. `contents`: bytes by digest. */
export async function loadContents(contents: Record<string, number>, from: From): Promise<number> {
  const { store, loading, promised } = from;
  const missing = Object.entries(contents).filter(([digest]) => !store.has(digest));
  const total = missing.reduce((sum, [, bytes]) => sum + bytes, 0);
  if (missing.length === 0) return 0;
  if (total > 0) {
    refuseWithoutRoom(dirname(store.temporary()), total + promised.bytes);
    loading?.(total);
  }
  promised.bytes += total;
  try {
    await forAll(missing, from, (content, signal) => loadContent(content, { ...from, signal }));
  } finally {
    promised.bytes -= total;
  }
  return total;
}

/** Of a disk, kept free by downloads. */
const reserve = { share: 0.05, bytesMax: 2 * 2 ** 30 };

/** A disk that a download fills would end the attempts and stages that run meanwhile. */
function refuseWithoutRoom(folder: string, bytes: number): void {
  const { bavail, blocks, bsize } = statfsSync(folder);
  const kept = Math.min(reserve.share * blocks * bsize, reserve.bytesMax);
  if (bytes <= bavail * bsize - kept) return;
  const message = `results of ${formatBytes(bytes)} are more than the disk has room for; they are made here`;
  throw Object.assign(new Error(message), { code: "ENOSPC" });
}

async function loadContent(
  [digest, bytes]: [digest: string, bytes: number],
  { store, verified, client, signal }: From,
): Promise<void> {
  const to = store.temporary();
  try {
    await client.download({ digest, bytes, to, signal });
    const { size } = statSync(to);
    if (size !== bytes) throw new Error(`a download of ${bytes} bytes has ${size} on the disk`);
    store.putFile(to, { move: true, digests: new Map([[to, digest]]) });
    if (bytes >= largeBytes) verified.add([{ digest, path: store.pathOf(digest) }]);
  } finally {
    rmSync(to, { force: true });
  }
}
