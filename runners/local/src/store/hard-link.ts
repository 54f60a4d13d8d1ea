// Creates hard links where the file system supports them and the inode has room for one more.
import { linkSync, rmSync } from "node:fs";

/** An inode has at most 65 000 names. Some file systems have no links, and none has links to another file system. */
const refusals = new Set(["EMLINK", "EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Returns false if only a copy is possible. Throws on other errors, including ENOENT. */
export function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (refusals.has((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

/** As tryLink, but replaces a file at `to`. */
export function tryLinkOver(from: string, to: string): boolean {
  try {
    return tryLink(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    rmSync(to, { force: true });
    return tryLink(from, to);
  }
}
