// The files of a folder, also in the folders below it.
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";

/** Paths from the folder, in code-unit order. Links are not followed, and left out. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}
