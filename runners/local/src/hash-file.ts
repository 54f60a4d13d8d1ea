// Reads a file through in large chunks, hashing it on the way.
import { createHash } from "node:crypto";
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";

/** Shared by all reads of a thread: they are synchronous, and a fresh one a file would be most of the work. */
const chunk = Buffer.allocUnsafeSlow(1 << 20);

/** sha256 of a file's bytes, in hex. Throws on a link. */
export function hashFile(path: string): string {
  return throughChunks(path, () => {});
}

/** Copies `from` to `to`, which must not exist, and gives the sha256 of what was copied, in hex. */
export function copyHashing(from: string, to: string): string {
  const file = openSync(to, "wx");
  try {
    return throughChunks(from, (part) => {
      for (let done = 0; done < part.length; ) done += writeSync(file, part, done);
    });
  } finally {
    closeSync(file);
  }
}

function throughChunks(path: string, visit: (part: Buffer) => void): string {
  const hash = createHash("sha256");
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    for (;;) {
      const count = readSync(file, chunk);
      if (count === 0) return hash.digest("hex");
      const part = chunk.subarray(0, count);
      hash.update(part);
      visit(part);
    }
  } finally {
    closeSync(file);
  }
}
