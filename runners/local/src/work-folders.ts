// Folders that running stages write in. Each run has its own and names itself in it, so that the next
// run can tell what a killed one left behind, end the processes that outlived it, and clear up.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { endProcesses } from "@mlrb/kit/end-processes";
import { type Card, isAlive, type Owner, thisProcess } from "./lease.ts";
import { removeFolder } from "./remove-folder.ts";

/** `token` begins the mark of every process that the run starts; `card` names it to other runs. */
export type WorkFolder = { path: string; token: string; card: Card };

const unowned = ".new";

/** Makes the run's folder. */
export function beginWork(work: string, run: string): WorkFolder {
  const path = join(work, run);
  // a folder without an owner would be taken for a dead run's
  mkdirSync(`${path}${unowned}`, { recursive: true });
  const owner = thisProcess();
  writeFileSync(join(`${path}${unowned}`, "owner.json"), JSON.stringify(owner));
  renameSync(`${path}${unowned}`, path);
  return { path, token: tokenOf(run), card: { path: join(path, "owner.json"), owner } };
}

export function endWork({ path }: WorkFolder): void {
  removeFolder(path);
}

/** Ends and removes what dead runs left; gives how many there were. */
export async function clearDeadWork(work: string): Promise<number> {
  let cleared = 0;
  for (const name of readdirSync(work)) {
    const path = join(work, name);
    if (name.endsWith(unowned) && !isOld(path)) continue;
    const owner = ownerOf(path);
    if (owner && isAlive(owner)) continue;
    await endProcesses({ token: tokenOf(name), root: path, groups: [] });
    try {
      removeFolder(path);
    } catch (error) {
      if (existsSync(path)) throw error; // else a run that started with this one was quicker
    }
    cleared++;
  }
  return cleared;
}

/** Whether nobody can be about to put an owner in it. One that is gone by now has its owner, and its name. */
function isOld(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > 3600e3;
}

function tokenOf(run: string): string {
  return `mlrb:${run}:`;
}

function ownerOf(path: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(join(path, "owner.json"), "utf8")) as Owner;
  } catch {
    return undefined;
  }
}
