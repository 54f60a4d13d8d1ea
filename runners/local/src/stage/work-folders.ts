// The folders in which running stages write. Each run has its own folder and names itself there. The next run
// finds the folder of a killed run, ends the processes that outlived that run, and clears the folder.
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { removeGroupsBelow } from "@mlrb/kit/processes/control-groups";
import { endProcesses } from "@mlrb/kit/processes/end-processes";
import { quiet } from "@mlrb/kit/processes/process-table";
import { type Heart, look, startHeart } from "../leases/heartbeat.ts";
import type { Card } from "../leases/lease.ts";
import { isAlive, isOfThisBoot, isRunning, thisProcess } from "../leases/owner.ts";
import { groupName } from "../process/walls.ts";
import { clearUnfinished } from "../run/clear-unfinished.ts";
import { removeTorn } from "../store/garbage-collection.ts";
import { ifReadable } from "../store/if-readable.ts";
import { isAdoptedFrom } from "./adoptions.ts";

/**
 * `token` begins the mark of every process that the run starts. `card` names the run to other runs. `heart` shows
 * runs on other hosts that the run is alive.
 */
export type WorkFolder = { path: string; token: string; card: Card; heart: Heart };

const unowned = ".new";

/** Makes the run's folder. `run` ends in a process name. */
export function beginWork(work: string, run: string): WorkFolder {
  const path = join(work, run);
  const owner = thisProcess();
  for (let tries = 0; ; tries++) {
    try {
      // a folder without an owner would look like a dead run's
      mkdirSync(`${path}${unowned}`, { recursive: true });
      writeFileSync(join(`${path}${unowned}`, "owner.json"), JSON.stringify(owner));
      renameSync(`${path}${unowned}`, path);
      const card = { path: join(path, "owner.json"), owner };
      return { path, token: tokenOf(run), card, heart: startHeart(card.path) };
    } catch (error) {
      // another machine, which cannot see this process, may have just cleared the folder
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries > 9) throw error;
    }
  }
}

/** A folder that cannot be removed is cleared by the next run: the work itself is done. */
export function endWork({ path, heart }: WorkFolder): void {
  heart.stop();
  quiet(() => removeFolder(path)); // code that needs the disk reports its errors
}

/** Begins a file's name in the folder of a run; an executor's name follows. */
const elsewhereMark = "elsewhere.";

/** Marks the folder of a run that has stages outside the processes of this machine. */
export function markElsewhere(path: string, executor: string): void {
  writeFileSync(join(path, elsewhereMark + executor), "");
}

/** The names of the executors whose stages may still write in a folder of a dead run. */
export function executorsLeft(work: string): string[] {
  const dead = readdirSync(work).filter((name) => {
    const owner = look(join(work, name, "owner.json"))?.owner;
    return owner ? !isAlive(owner) : !name.endsWith(unowned); // --take-over removes a silent run's card
  });
  return [...new Set(dead.flatMap((name) => elsewhereIn(join(work, name))))].sort();
}

function elsewhereIn(path: string): string[] {
  const names = ifReadable(() => readdirSync(path)) ?? [];
  const marks = names.filter((name) => name.startsWith(elsewhereMark));
  return marks.map((name) => name.slice(elsewhereMark.length));
}

/**
 * Ends and removes the leftovers of dead runs; returns the number of those runs. Folders that containers or jobs
 * may still write in stay until these have ended; `cleared` names the executors where they have.
 */
export async function clearDeadWork(work: string, { cleared: at = [] as string[] } = {}): Promise<number> {
  let cleared = 0;
  for (const name of readdirSync(work)) {
    const path = join(work, name);
    const owner = look(join(path, "owner.json"))?.owner; // throws where the file cannot be read
    if (
      owner ? isAlive(owner) : name.endsWith(unowned) && isRunning(Number.parseInt(processOf(name), 10) || 0)
    )
      continue;
    if (isAdoptedFrom(path)) continue; // another run waits for a job or a container that writes there
    await endProcesses({ token: tokenOf(name), root: path, groups: [] });
    await removeGroupsBelow(groupName(tokenOf(name)));
    if (elsewhereIn(path).some((executor) => !at.includes(executor))) continue;
    // the folder is removed last: while it exists, the next run knows that there are files to clear
    clearUnfinished(dirname(work), processOf(name));
    // the run's start, slightly early, since the clocks of files are coarse; before the epoch where it is unknown
    const begunMs = (statSync(path, { throwIfNoEntry: false })?.birthtimeMs ?? 0) - 1000;
    if (!isOfThisBoot(owner)) removeTorn(join(dirname(work), "cache/blobs"), begunMs);
    try {
      removeFolder(path);
    } catch (error) {
      if (existsSync(path)) throw error; // otherwise a run that started at the same time was quicker
    }
    cleared++;
  }
  return cleared;
}

/** The name of the process that made the folder; "none" for a folder that no run made. */
function processOf(name: string): string {
  return /-(\d+x[0-9a-f]+)(\.new)?$/.exec(name)?.[1] ?? "none";
}

function tokenOf(run: string): string {
  return `mlrb:${run}:`;
}
