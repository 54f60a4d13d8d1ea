// Full disks, and files whose space is reserved so that they can be written on a full disk.
import { constants, fsyncSync, ftruncateSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { quiet } from "../processes/process-table.ts";
import { openedFile } from "./opened-file.ts";

/** Whether this error, or its cause, is a full disk or quota. */
export function isFullDisk(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { code, cause } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT" || (cause instanceof Error && isFullDisk(cause));
}

const reservedName = (path: string) => `${path}.reserved`;

/** Reserves space for a file that is written later. Throws on a full disk. */
export function reserveFile(path: string, bytes: number): void {
  using file = openedFile(reservedName(path), "w");
  // incompressible bytes are not needed: a compressing file system cannot guarantee space anyway
  writeFileSync(file.descriptor, Buffer.alloc(bytes, " "));
  fsyncSync(file.descriptor);
}

/**
 * Writes `text` into the space reserved for `path`, then renames. On a file system that writes in place this needs
 * no new block. Text beyond the reservation takes new space. Throws on a full disk and keeps the reservation.
 */
export function writeReserved(path: string, text: string): void {
  const reserved = reservedName(path);
  const bytes = Buffer.from(text);
  {
    using file = openedFile(reserved, constants.O_RDWR | constants.O_CREAT); // keeps the blocks that are there
    writeFileSync(file.descriptor, bytes); // at the position of the file that was just opened: its start
    ftruncateSync(file.descriptor, bytes.length);
    fsyncSync(file.descriptor);
  }
  renameSync(reserved, path);
}

/** Frees the reserved space. False if there was none. */
export function releaseReserved(path: string): boolean {
  return quiet(() => rmSync(reservedName(path)) ?? true) ?? false;
}
