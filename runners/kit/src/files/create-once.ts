// Creates a file whole and only once, over all processes and machines that share its folder: by a link, which
// network file systems make atomically too.
import { linkSync, rmSync, statSync } from "node:fs";
import { writeJson } from "../json-file.ts";
import { processName } from "../processes/process-name.ts";

/** False if `path` exists; it is then unchanged. */
export function createOnce(path: string, value: unknown): boolean {
  const own = `${path}.${processName}`;
  writeJson(own, value);
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    // a server of NFS whose first answer was lost says this of the link that it has made
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return statSync(own).nlink === 2;
    throw error;
  } finally {
    rmSync(own);
  }
}
