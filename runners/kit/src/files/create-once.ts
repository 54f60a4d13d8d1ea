// Creates a file whole and only once, over all processes and machines that share its folder: by a link, which network
// file systems make atomically too.
import { linkSync, rmSync } from "node:fs";
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
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(own);
  }
}
