// Reads a part of a file, to which other processes may append.
import { fstatSync, readSync } from "node:fs";
import { openedFile } from "./opened-file.ts";

/** Reads at most `bytesMax` bytes. Undefined if the file is missing. */
export function readFrom(
  path: string,
  from: number,
  bytesMax = Number.POSITIVE_INFINITY,
): Buffer | undefined {
  try {
    using file = openedFile(path, "r");
    const { size } = fstatSync(file.descriptor);
    const text = Buffer.allocUnsafe(Math.max(0, Math.min(size - from, bytesMax)));
    let length = 0;
    while (length < text.length) {
      const count = readSync(file.descriptor, text, length, text.length - length, from + length);
      if (count === 0) break;
      length += count;
    }
    return text.subarray(0, length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
