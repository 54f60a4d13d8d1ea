// Where Python programs of the repository import from besides their own folder: the kit's modules, then what the
// repository declares. Variables, permissions and code digests of stages are made from this one list.
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Declares the folders, one a line, from the repository's root; a line that begins with # is a comment. */
export const pythonPathFile = "pipelines/environments/python-path.txt";

/**
 * From the repository's root, in the order in which Python looks. A folder outside the repository is left out: its
 * code would be in no key.
 */
export function pythonFolders(repository: string): string[] {
  return [...new Set(["runners/kit/python", ...declaredFolders(repository)])];
}

/** The folders as the variable PYTHONPATH holds them. */
export function pythonPath(repository: string, folders = pythonFolders(repository)): string {
  return folders.map((folder) => join(repository, folder)).join(delimiter);
}

function declaredFolders(repository: string): string[] {
  let text: string;
  try {
    text = readFileSync(join(repository, pythonPathFile), "utf8");
  } catch {
    return []; // nothing is declared
  }
  const lines = text.split("\n").map((line) => line.trim());
  return lines
    .filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith("/"))
    .map((line) => join(line.replace(/\/+$/, "")))
    .filter((folder) => folder !== ".." && !folder.startsWith("../"));
}
