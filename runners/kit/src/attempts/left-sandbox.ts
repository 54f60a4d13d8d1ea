// Finds the files of a sandbox in an attempt's folder, after its supervisor or host died.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** `work`: the folder of the harness, in the attempt's folder; `root`: the sandbox's own, in `work`. */
export type LeftSandbox = { work: string; root: string };

/** The newest; undefined if there is none. */
export function leftSandbox(folder: string): LeftSandbox | undefined {
  const works = foldersIn(folder, "attempt-").sort((a, b) => madeMs(b) - madeMs(a));
  for (const work of works) {
    const [root] = foldersIn(work, "sandbox-").filter(
      (path) => existsSync(join(path, "workspace")) || existsSync(`${path}.ext4`),
    );
    if (root !== undefined) return { work, root };
  }
  return undefined;
}

function foldersIn(folder: string, begin: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name.startsWith(begin) && !entry.name.endsWith(".files"))
    .map(({ name }) => join(folder, name));
}

const madeMs = (path: string) => statSync(path).birthtimeMs;
