// Decides from which size on the files of a record share their inodes with the store (ADR 4). A record of few
// files keeps its small ones as copies: a second copy on the disk. Of many, each copy would be a new file for the
// disk.
import { sharedBytes } from "../store/content-store.ts";

/** A new file takes 0.1 to 1 ms on ext4 and is synced on its own; a name takes 0.02 ms. */
const manyFiles = 500;

/** Size in bytes from which a file is linked, in a record of `files` files. An empty file is always a copy. */
export function linkedBytes(files: number): number {
  return files >= manyFiles ? 1 : sharedBytes;
}
