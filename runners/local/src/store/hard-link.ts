// Hard links where the file system has them, and room for one more.
import { linkSync } from "node:fs";

/** An inode has 65 000 names at most; some file systems have no links, and none has them to another. */
const refusals = new Set(["EMLINK", "EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** False where only a copy will do. Throws on other trouble, ENOENT too. */
export function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (refusals.has((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}
