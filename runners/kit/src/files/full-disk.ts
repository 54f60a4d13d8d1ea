// Full disks, and files whose space is reserved so that they can be written on a full disk.
import { closeSync, fsyncSync, ftruncateSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Whether this error, or its cause, is a full disk or quota. */
export function isFullDisk(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { code, cause } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT" || (cause instanceof Error && isFullDisk(cause));
}

const reservedName = (path: string) => `${path}.reserved`;

/** Reserves space for a file that is written later. Throws on a full disk. */
export function reserveFile(path: string, bytes: number): void {
  const file = openSync(reservedName(path), "w");
  try {
    // incompressible bytes are not needed: a compressing file system cannot guarantee space anyway
    writeFileSync(file, Buffer.alloc(bytes, " "));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Writes `text` into the space reserved for `path`, then renames. On a file system that writes in place this needs
 * no new block. Text beyond the reservation takes new space. Throws on a full disk and keeps the reservation.
 */
export function writeReserved(path: string, text: string): void {
  const reserved = reservedName(path);
  const bytes = Buffer.from(text);
  const file = openSync(reserved, constantsFor(reserved));
  try {
    writeFileSync(file, bytes); // at the position of the file that was just opened: its start
    ftruncateSync(file, bytes.length);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(reserved, path);
}

/** Frees the reserved space. False if there was none. */
export function releaseReserved(path: string): boolean {
  try {
    rmSync(reservedName(path));
    return true;
  } catch {
    return false;
  }
}

/** Flags to overwrite an existing file, or to create a missing one. */
function constantsFor(path: string): "r+" | "w" {
  try {
    closeSync(openSync(path, "r+"));
    return "r+";
  } catch {
    return "w";
  }
}
