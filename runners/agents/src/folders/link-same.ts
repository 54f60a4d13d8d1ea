// Detects that a file equals an earlier copy of it, and hard-links that copy instead of copying again: a finished
// model is in the last snapshot and in the submission. Times are not trusted, since a program that maps a file can
// write it without changing them. Every byte is compared, which costs a third of hashing and writing them.
import { constants } from "node:fs";
import { type FileHandle, link, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";

/** A copy that was made earlier. */
export type Copy = { at: string; bytes: number; digest: string };

const chunk = 1 << 20;

/**
 * Links `before.at` to `to` if `source` has the same content. Returns undefined if it differs, or if the copy is
 * gone, too small to matter or cannot be linked. Then `to` does not exist.
 */
export async function linkSame(
  source: FileHandle,
  to: string,
  before: Copy,
): Promise<{ torn: boolean } | undefined> {
  if (before.bytes <= chunk) return undefined;
  const begun = await source.stat({ bigint: true });
  if (begun.size !== BigInt(before.bytes)) return undefined;
  await using copy = await open(before.at, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
  if (!copy) return undefined; // dropped to make room
  if (!(await sameBytes(source, copy, before.bytes))) return undefined;
  const { size, mtimeNs } = await source.stat({ bigint: true });
  try {
    await mkdir(dirname(to), { recursive: true });
    await link(before.at, to);
  } catch {
    return undefined; // the copy that follows reports the cause
  }
  return { torn: size !== begun.size || mtimeNs !== begun.mtimeNs };
}

/** Reads by position, so that a copy that follows reads the file from its beginning. */
async function sameBytes(one: FileHandle, other: FileHandle, bytes: number): Promise<boolean> {
  const [a, b] = [Buffer.allocUnsafe(chunk), Buffer.allocUnsafe(chunk)];
  for (let at = 0; at < bytes; at += chunk) {
    const [left, right] = await Promise.all([filled(one, a, at), filled(other, b, at)]);
    if (!left.equals(right)) return false;
  }
  return true;
}

/** Up to a whole chunk from `position` on: a single read may return less. */
async function filled(file: FileHandle, chunk: Buffer, position: number): Promise<Buffer> {
  let length = 0;
  while (length < chunk.length) {
    const { bytesRead } = await file.read(chunk, length, chunk.length - length, position + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return chunk.subarray(0, length);
}
