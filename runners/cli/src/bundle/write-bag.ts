// Writes an evidence bundle as a zip archive. The same files give the same bytes: order, times and modes are
// fixed, and nothing is compressed, since deflate has other bytes on other processors.
import { createWriteStream, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { hashFile } from "@mlrb/local/digests/hash-file";
import { ZipFile } from "yazl";
import { bagFolder, isBundlePath, payload, tagFiles } from "./bag.ts";

const entry = {
  compress: false,
  mode: 0o100644,
  // a local time without a zone: the archive has no other one
  mtime: new Date(1980, 0, 1, 12),
  forceDosTimestamp: true,
};

/** Packs files of `folder`, in this order, into the new file `to`, whole or not at all. */
export async function writeBag(to: string, folder: string, paths: readonly string[]): Promise<void> {
  const odd = paths.find((path) => !isBundlePath(path));
  if (odd !== undefined) throw new Error(`bug: ${odd} is no name of a bundled file`);
  const files = paths.map((path) => {
    const file = join(folder, path);
    return { path, bytes: statSync(file).size, sha256: hashFile(file) };
  });
  const zip = new ZipFile();
  zip.on("error", (error) => zip.outputStream.emit("error", error));
  for (const [name, text] of tagFiles(files)) zip.addBuffer(Buffer.from(text), `${bagFolder}/${name}`, entry);
  for (const path of paths) zip.addFile(join(folder, path), `${bagFolder}/${payload}${path}`, entry);
  zip.end();
  try {
    await pipeline(zip.outputStream, createWriteStream(to, { flags: "wx", mode: 0o600 }));
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}
