// Overwrites a small file in place: on a disk, creating a file costs twenty times as much as filling an existing
// one.
import { closeSync, constants, fstatSync, ftruncateSync, openSync, rmSync, writeFileSync } from "node:fs";

/** Afterwards `path` is a plain file with no other name, whatever the path was before. */
export function overwrite(path: string, content: string | Buffer): void {
  const plain = openPlain(path);
  if (typeof plain === "string") {
    if (plain === "other") rmSync(path, { recursive: true, force: true });
    writeFileSync(path, content, { flag: "wx", mode: 0o644 });
    return;
  }
  const { file, bytes } = plain;
  try {
    writeFileSync(file, content);
    if (Buffer.byteLength(content) < bytes) ftruncateSync(file, Buffer.byteLength(content));
  } finally {
    closeSync(file);
  }
}

/** Returns the open file with its size, or the kind of entry at the path. */
function openPlain(path: string): { file: number; bytes: number } | "nothing" | "other" {
  let file: number;
  try {
    file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "nothing" : "other";
  }
  const stats = fstatSync(file);
  const mine = stats.uid === process.getuid?.() && (stats.mode & 0o7777) === 0o644;
  if (stats.isFile() && stats.nlink === 1 && mine) return { file, bytes: stats.size };
  closeSync(file);
  return "other";
}
