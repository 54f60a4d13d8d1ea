// What is left of an attempt that was ended, or never finished, through no doing of its agent: what the agent did and had handed in may have cost much,
// and only a person can tell what it is still worth. It is no record, and nothing here reads it again.
import { mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import type { AttemptFolder } from "./attempt-folders.ts";
import { removeFolder } from "./remove-folder.ts";
import type { StateFolder } from "./state-folder.ts";

/** Moves trajectory, snapshots and logs to `.mlrb/attempts/lost`; gives where, or undefined where there is nothing. */
export function putAside(
  { name, path, card }: Pick<AttemptFolder, "name" | "path" | "card">,
  { attempts, root }: Pick<StateFolder, "attempts" | "root">,
): string | undefined {
  if (!holdsSomething(join(path, "out"))) return undefined;
  // the log as it is may hold a secret; the one among the journals does not
  for (const part of ["in", "tmp", ...(card.secrets.length > 0 ? ["log"] : [])])
    removeFolder(join(path, part));
  const lost = join(attempts, "lost");
  mkdirSync(lost, { recursive: true });
  const to = join(lost, name);
  renameSync(path, to);
  return relative(root, to);
}

export function keptWords(kept: string): string {
  return `what it had done is kept in ${kept}`;
}

function holdsSomething(folder: string): boolean {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).some(
      (entry) => entry.isFile() && statSync(join(entry.parentPath, entry.name)).size > 0,
    );
  } catch {
    return false;
  }
}
