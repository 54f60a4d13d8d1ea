// Sends contents of the local store to a remote cache. Nothing damaged is sent.
import { statSync } from "node:fs";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { hashFiles, largeBytes } from "../digests/hash-files.ts";
import { MissingContent, type Store } from "../store/artifact-store.ts";
import { smallBytes } from "../store/content-store.ts";
import type { Workspace } from "../store/workspace.ts";
import { forAll } from "./for-all.ts";
import type { RemoteClient } from "./remote-client.ts";

/** Size in bytes from which a content is looked for before it is sent. */
const lookBytes = 64 << 10;

type To = Pick<Workspace, "store" | "verified"> & {
  client: RemoteClient;
  atOnce: number;
  signal: AbortSignal;
};

/** The bytes of every content of the outputs, by digest. Throws MissingContent. */
export function contentsOf(outputs: Record<string, Artifact>, store: Store): Record<string, number> {
  const found: Record<string, number> = {};
  const left = Object.values(outputs);
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (one.digest in found) continue;
    const size = statSync(store.pathOf(one.digest), { throwIfNoEntry: false })?.size;
    if (size === undefined) throw new MissingContent(`the store lacks ${one.digest}`);
    found[one.digest] = size;
    if (one.kind === "dir") left.push(...store.entriesOf(one.digest));
  }
  return found;
}

/** Returns how many bytes were sent. Throws MissingContent. */
export async function sendContents(contents: Record<string, number>, to: To): Promise<number> {
  const all = Object.entries(contents).filter(([, size]) => size > 0); // no reader asks for an empty one
  const sent = await forAll(all, to, (content, signal) => sendContent(content, { ...to, signal }));
  return sent.reduce((sum, size) => sum + size, 0);
}

async function sendContent(
  [digest, size]: [digest: string, size: number],
  { store, verified, client, signal }: To,
): Promise<number> {
  const path = `cas/${digest}`;
  if (size > lookBytes && (await client.sizeOf(path, signal)) === size) return 0;
  if (size <= smallBytes) {
    await client.put(path, { bytes: store.read(digest), type: "application/octet-stream" }, signal);
    return size;
  }
  if (size < largeBytes) store.check(digest);
  else await checkLarge(digest, { store, verified });
  await client.put(path, { file: store.pathOf(digest), size }, signal);
  return size;
}

async function checkLarge(
  digest: string,
  { store, verified }: Pick<Workspace, "store" | "verified">,
): Promise<void> {
  const path = store.pathOf(digest);
  if (verified.holds(digest, path)) return;
  const found = await hashFiles([path]);
  if (found.get(path) !== digest) store.discard(digest);
  verified.add([{ digest, path }]);
}
