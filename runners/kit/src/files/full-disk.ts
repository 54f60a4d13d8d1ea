// A disk without room, and files whose room was taken beforehand so that they can be written on one.
import { closeSync, fsyncSync, ftruncateSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Whether this error, or what caused it, is a disk or quota without room. */
export function isFullDisk(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { code, cause } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT" || (cause instanceof Error && isFullDisk(cause));
}

const reservedName = (path: string) => `${path}.reserved`;

/** Takes the room for a file that is written later. Throws where there is none. */
export function reserveFile(path: string, bytes: number): void {
  const file = openSync(reservedName(path), "w");
  try {
    // random-like bytes are not needed: no file system that compresses can promise room in any case
    writeFileSync(file, Buffer.alloc(bytes, " "));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Writes `text` over the room that was reserved for `path`, then renames: needs no new block where a file system
 * writes in place. Text beyond the reserved room, or without one, takes new room. Throws on a full disk, with
 * the reservation still there.
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

/** Gives the room back, for whatever is written next. False where there is none left. */
export function releaseReserved(path: string): boolean {
  try {
    rmSync(reservedName(path));
    return true;
  } catch {
    return false;
  }
}

/** Over what is there; made where it is missing. */
function constantsFor(path: string): "r+" | "w" {
  try {
    closeSync(openSync(path, "r+"));
    return "r+";
  } catch {
    return "w";
  }
}
