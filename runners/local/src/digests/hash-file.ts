// Reads a file in large chunks and hashes them.
import { createHash } from "node:crypto";
import { constants, readSync, writeSync } from "node:fs";
import { openedFile } from "@mlrb/kit/files/opened-file";

/**
 * Shared by all reads of a thread, since reads are synchronous. Allocating a buffer for each file would be most of
 * the work.
 */
const chunk = Buffer.allocUnsafeSlow(1 << 20);

export const chunkBytes = chunk.length;

/** sha256 of a file's bytes, in hex. Throws on a link. */
export function hashFile(path: string): string {
  return throughChunks(path, () => {});
}

/** Copies `from` to `to`, which must not exist. Returns the sha256 of the copied bytes, in hex. */
export function copyHashing(from: string, to: string): string {
  using file = openedFile(to, "wx");
  return throughChunks(from, (part) => {
    for (let done = 0; done < part.length; ) done += writeSync(file.descriptor, part, done);
  });
}

function throughChunks(path: string, visit: (part: Buffer) => void): string {
  const digest = createHash("sha256");
  using file = openedFile(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  for (;;) {
    const count = readSync(file.descriptor, chunk);
    if (count === 0) return digest.digest("hex");
    const part = chunk.subarray(0, count);
    digest.update(part);
    visit(part);
  }
}
