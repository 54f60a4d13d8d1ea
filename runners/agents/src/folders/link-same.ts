// Finds out that a file is still what an earlier copy of it holds, and gives the copy another name in place
// of copying again: a finished model stands in the last snapshot and in the submission. Times are not
// believed, since a program that maps a file can write it without moving them; every byte is compared,
// which costs a third of hashing and writing them.
import { constants } from "node:fs";
import { type FileHandle, link, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";

/** A copy that was made earlier. */
export type Copy = { at: string; bytes: number; digest: string };

const chunk = 1 << 20;

/**
 * Links `before.at` to `to` where `source` holds the same. Undefined where it does not, where the copy is
 * gone, where it is too small to be worth it or where there can be no link: then `to` does not exist.
 */
export async function linkSame(
  source: FileHandle,
  to: string,
  before: Copy,
): Promise<{ torn: boolean } | undefined> {
  if (before.bytes <= chunk) return undefined;
  const begun = await source.stat({ bigint: true });
  if (begun.size !== BigInt(before.bytes)) return undefined;
  const copy = await open(before.at, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
  if (!copy) return undefined; // dropped to make room
  try {
    if (!(await sameBytes(source, copy, before.bytes))) return undefined;
  } finally {
    await copy.close();
  }
  const { size, mtimeNs } = await source.stat({ bigint: true });
  try {
    await mkdir(dirname(to), { recursive: true });
    await link(before.at, to);
  } catch {
    return undefined; // whatever keeps it from being linked is told by the copy that is then made
  }
  return { torn: size !== begun.size || mtimeNs !== begun.mtimeNs };
}

/** By position, so that a copy that follows reads the file from its beginning. */
async function sameBytes(one: FileHandle, other: FileHandle, bytes: number): Promise<boolean> {
  const [a, b] = [Buffer.allocUnsafe(chunk), Buffer.allocUnsafe(chunk)];
  for (let at = 0; at < bytes; at += chunk) {
    const [left, right] = await Promise.all([filled(one, a, at), filled(other, b, at)]);
    if (!left.equals(right)) return false;
  }
  return true;
}

/** Up to a whole chunk from `position` on: one read may give less. */
async function filled(file: FileHandle, chunk: Buffer, position: number): Promise<Buffer> {
  let length = 0;
  while (length < chunk.length) {
    const { bytesRead } = await file.read(chunk, length, chunk.length - length, position + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return chunk.subarray(0, length);
}
