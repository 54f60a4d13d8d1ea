// The folders from which Python programs of the repository import, besides their own: the kit's modules, then the
// declared ones. Variables, permissions and code digests of stages use this one list.
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { quiet } from "./processes/process-table.ts";

/** Declares the folders, one per line, from the repository's root; lines that begin with # are comments. */
export const pythonPathFile = "pipelines/environments/python-path.txt";

/**
 * From the repository's root, in Python's search order. A folder outside the repository is left out, since its
 * code would be in no key.
 */
export function pythonFolders(repository: string): string[] {
  return [...new Set(["runners/kit/python", ...declaredFolders(repository)])];
}

/** The value of PYTHONPATH. */
export function pythonPath(repository: string, folders = pythonFolders(repository)): string {
  return folders.map((folder) => join(repository, folder)).join(delimiter);
}

function declaredFolders(repository: string): string[] {
  // without the file nothing is declared
  const text = quiet(() => readFileSync(join(repository, pythonPathFile), "utf8")) ?? "";
  const lines = text.split("\n").map((line) => line.trim());
  return lines
    .filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith("/"))
    .map((line) => join(line.replace(/\/+$/, "")))
    .filter((folder) => folder !== ".." && !folder.startsWith("../"));
}
