// Unpacks an evidence bundle into a folder and compares it with its manifests. The archive comes from another
// person: it may name other folders, hold links, or unpack to any size.
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { hashFile } from "@mlrb/local/digests/hash-file";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { bagFolder, bagProblems, isBundlePath, payload } from "./bag.ts";

/** An attempt has two files in a bundle, or some more for its verdict and scores. */
const filesMax = 100_000;

/** Fills `to`, which must not exist. Returns what is wrong, a line for each place; none: each byte is as listed. */
export async function readBag(path: string, to: string): Promise<string[]> {
  const digests = new Map<string, string>();
  try {
    const zip = await openPromise(path, { strictFileNames: true });
    try {
      const problem = await unpack(zip, { to, digests });
      if (problem !== undefined) return [problem];
    } finally {
      zip.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // a file and a folder of one name, or two of one name; other errors are of this disk
    if (code !== undefined && !/^(EEXIST|ENOTDIR|EISDIR)$/.test(code)) throw error;
    return [`the archive cannot be read (${code ?? message})`];
  }
  return bagProblems(digests, (name) => readFileSync(join(to, name), "utf8"));
}

type Unpacking = { to: string; digests: Map<string, string> };

/** Returns why an entry is refused. */
async function unpack(zip: ZipFile, { to, digests }: Unpacking): Promise<string | undefined> {
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    const { fileName, uncompressedSize } = entry;
    const cause = entryProblem(entry);
    if (cause !== undefined) return `${fileName.slice(0, 200)}: ${cause}`;
    bytes += uncompressedSize;
    if (bytes > zip.fileSize) return `${fileName}: up to here, the files have more bytes than the archive`;
    if (digests.size === filesMax) return `${fileName}: the bundle has more than ${filesMax} files`;
    const name = fileName.slice(bagFolder.length + 1);
    const file = join(to, name);
    mkdirSync(dirname(file), { recursive: true });
    const bytesOfEntry = await zip.openReadStreamPromise(entry);
    await pipeline(bytesOfEntry, createWriteStream(file, { flags: "wx", mode: 0o600 }));
    digests.set(name, hashFile(file));
  }
  return undefined;
}

function entryProblem(entry: Entry): string | undefined {
  const { fileName, compressionMethod, externalFileAttributes } = entry;
  const name = fileName.startsWith(`${bagFolder}/`) ? fileName.slice(bagFolder.length + 1) : "";
  if (!isBundlePath(name.startsWith(payload) ? name.slice(payload.length) : name))
    return `it is no name of a file in ${bagFolder}/`;
  const kind = (externalFileAttributes >>> 16) & 0o170000;
  if (kind !== 0 && kind !== 0o100000) return "it is a link or another special file";
  if (entry.isEncrypted()) return "it is encrypted";
  if (compressionMethod !== 0) return "it is compressed, and a bundle is not: its size could be any";
  return undefined;
}
