// Tells trouble with writing from other trouble: a state that one may read and not write must still be looked at.
import { accessSync, constants } from "node:fs";
import { isFullDisk } from "@mlrb/kit/files/full-disk";

/** Whether something failed since one may not write there. */
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
 * Does what only saves time the next time, and leaves it where one may not write, there is no room, or the folder for it
 * is not there.
 */
export function whereWritable(write: () => void): void {
  try {
    write();
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (!isReadOnly(error) && !isFullDisk(error) && !isGone) throw error;
  }
}
