// Writes a small file over one that stands there already: on a disk, making a file costs twenty times
// as much as filling one that has its place.
import { closeSync, constants, fstatSync, ftruncateSync, openSync, rmSync, writeFileSync } from "node:fs";

/** `path` is then a plain file with no other name, whatever stood there. */
export function overwrite(path: string, content: string | Buffer): void {
  const file = openPlain(path);
  if (typeof file === "string") {
    if (file === "other") rmSync(path, { recursive: true, force: true });
    writeFileSync(path, content, { flag: "wx", mode: 0o644 });
    return;
  }
  try {
    writeFileSync(file, content);
    ftruncateSync(file, Buffer.byteLength(content));
  } finally {
    closeSync(file);
  }
}

/** The file, open; or what stands there instead. */
function openPlain(path: string): number | "nothing" | "other" {
  let file: number;
  try {
    file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "nothing" : "other";
  }
  const stats = fstatSync(file);
  const mine = stats.uid === process.getuid?.() && (stats.mode & 0o7777) === 0o644;
  if (stats.isFile() && stats.nlink === 1 && mine) return file;
  closeSync(file);
  return "other";
}
