// What a sandbox uses of a disk that the kernel does not limit, where a look cannot see everything. While
// something is out of sight, what the disk loses counts as the sandbox's, compared with the last look that saw
// everything. So a program is charged for hidden files only if the disk really lost that much. Pure.
import type { OpenFiles } from "../processes/open-files.ts";

export type DiskLook = OpenFiles & {
  /** Bytes in files with a name. */
  namedBytes: number;
  /** Free bytes of the whole disk, which others use too. */
  freeBytes: number;
};

/** What was used, and free, at the last look that saw everything. */
type Base = { used: number; freeBytes: number };

export class DiskEstimate {
  #mapped: Base | undefined;
  #hidden: Base | undefined;
  /** Whether the look before this one missed something too: a descriptor that is just handed over is no evidence. */
  #before = false;

  /** Bytes used. Call the first time before programs run. */
  next({ namedBytes, openBytes, mappedBytes, hidden, freeBytes }: DiskLook): number {
    let used = namedBytes + openBytes;
    if (mappedBytes > 0 && this.#mapped)
      // a mapping with holes takes less than its length
      used += Math.min(mappedBytes, Math.max(0, usedSince(this.#mapped, freeBytes) - used));
    else this.#mapped = { used, freeBytes };
    if (hidden && this.#hidden) {
      if (this.#before) used = Math.max(used, usedSince(this.#hidden, freeBytes));
    } else this.#hidden = { used, freeBytes };
    this.#before = hidden;
    return used;
  }
}

function usedSince({ used, freeBytes }: Base, freeNow: number): number {
  return used + freeBytes - freeNow;
}
