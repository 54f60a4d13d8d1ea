// Reads a part of a file, to which other processes may append.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** Reads at most `bytesMax` bytes. Undefined if the file is missing. */
export function readFrom(
  path: string,
  from: number,
  bytesMax = Number.POSITIVE_INFINITY,
): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const text = Buffer.allocUnsafe(Math.max(0, Math.min(fstatSync(file).size - from, bytesMax)));
    let length = 0;
    while (length < text.length) {
      const count = readSync(file, text, length, text.length - length, from + length);
      if (count === 0) break;
      length += count;
    }
    return text.subarray(0, length);
  } finally {
    closeSync(file);
  }
}
