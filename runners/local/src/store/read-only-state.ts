// Distinguishes a read-only state from other errors: commands that only read must work on a read-only state.
import { accessSync, constants } from "node:fs";
import { isFullDisk } from "@mlrb/kit/files/full-disk";

/** Whether an error means that the place is not writable. */
function isReadOnly(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EACCES" || code === "EROFS" || code === "EPERM";
}

export function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Performs a write that only saves time later. No-op if the path is not writable, the disk is full, or the folder
 * is missing.
 */
export function whereWritable(write: () => void): void {
  try {
    write();
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (!isReadOnly(error) && !isFullDisk(error) && !isGone) throw error;
  }
}
