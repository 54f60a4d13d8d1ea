// Finds the files of a sandbox in an attempt's folder, after its supervisor or host died.
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { removeDiskImages } from "../files/disk-image.ts";
import { writeWhole } from "../json-file.ts";

/** `work`: the folder of the harness, in the attempt's folder; `root`: the sandbox's own, in `work`. */
export type LeftSandbox = { work: string; root: string };

/** In the folder of the harness while a restore point is put into the sandbox: until then its files are not whole. */
const restoring = "restoring";

/** Marks `work` until the returned function is called: a restore that is cut short counts as no files. */
export function beginRestore(work: string): () => void {
  const marker = join(work, restoring);
  writeWhole(marker, "");
  return () => rmSync(marker);
}

/** Removes sandboxes whose restore was cut short. Call it as the only supervisor of the attempt. */
export async function removeCutRestores(folder: string): Promise<void> {
  for (const work of foldersIn(folder, "attempt-").filter((one) => existsSync(join(one, restoring)))) {
    await removeDiskImages(work);
    rmSync(work, { recursive: true, force: true });
  }
}

/** The newest; undefined if there is none. */
export function leftSandbox(folder: string): LeftSandbox | undefined {
  const works = foldersIn(folder, "attempt-").sort((a, b) => madeMs(b) - madeMs(a));
  for (const work of works.filter((one) => !existsSync(join(one, restoring)))) {
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
