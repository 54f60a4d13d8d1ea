// The folders in which running stages write. Each run has its own and names itself in it, so that the next run finds the
// folder of a killed run, ends the processes that outlived that run, and clears the folder.
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { endProcesses } from "@mlrb/kit/processes/end-processes";
import { type Heart, look, startHeart } from "../leases/heartbeat.ts";
import type { Card } from "../leases/lease.ts";
import { isAlive, isOfThisBoot, isRunning, thisProcess } from "../leases/owner.ts";
import { clearUnfinished } from "../run/clear-unfinished.ts";
import { removeTorn } from "../store/garbage-collection.ts";

/**
 * `token` begins the mark of every process that the run starts; `card` names it to other runs, and its
 * heart shows those on other hosts that it lives.
 */
export type WorkFolder = { path: string; token: string; card: Card; heart: Heart };

const unowned = ".new";

/** Makes the run's folder. `run` ends in a process name. */
export function beginWork(work: string, run: string): WorkFolder {
  const path = join(work, run);
  const owner = thisProcess();
  for (let tries = 0; ; tries++) {
    try {
      // a folder without an owner would be taken for a dead run's
      mkdirSync(`${path}${unowned}`, { recursive: true });
      writeFileSync(join(`${path}${unowned}`, "owner.json"), JSON.stringify(owner));
      renameSync(`${path}${unowned}`, path);
      const card = { path: join(path, "owner.json"), owner };
      return { path, token: tokenOf(run), card, heart: startHeart(card.path) };
    } catch (error) {
      // another machine, which cannot see this process, may just have cleared it
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries > 9) throw error;
    }
  }
}

/** What cannot be removed is cleared by the next run: the work itself is done. */
export function endWork({ path, heart }: WorkFolder): void {
  heart.stop();
  try {
    removeFolder(path);
  } catch {
    // code that needs the disk reports its errors
  }
}

/** In the folder of a run whose stages run elsewhere than as processes of this machine. */
const containersMark = "containers";

export function markContainers(path: string): void {
  writeFileSync(join(path, containersMark), "");
}

/** Whether a dead run's containers may still write in its folder. */
export function leftContainers(work: string): boolean {
  return readdirSync(work).some((name) => {
    const owner = look(join(work, name, "owner.json"))?.owner;
    return owner !== undefined && !isAlive(owner) && existsSync(join(work, name, containersMark));
  });
}

/**
 * Ends and removes what dead runs left; gives how many there were. Folders that containers may still write in
 * stay until those have ended: with `containers` they have.
 */
export async function clearDeadWork(work: string, { containers = false } = {}): Promise<number> {
  let cleared = 0;
  for (const name of readdirSync(work)) {
    const path = join(work, name);
    const owner = look(join(path, "owner.json"))?.owner; // throws where the file cannot be read
    if (owner ? isAlive(owner) : name.endsWith(unowned) && isRunning(pidOf(name))) continue;
    await endProcesses({ token: tokenOf(name), root: path, groups: [] });
    if (!containers && existsSync(join(path, containersMark))) continue;
    // last the folder: as long as it is there, the next run knows that there is something to clear
    clearUnfinished(dirname(work), processOf(name));
    if (!isOfThisBoot(owner)) removeTorn(join(dirname(work), "cache/blobs"), begunMs(path));
    try {
      removeFolder(path);
    } catch (error) {
      if (existsSync(path)) throw error; // else a run that started with this one was quicker
    }
    cleared++;
  }
  return cleared;
}

/** When the run began; a little earlier, since clocks of files are coarse. The beginning of time where it is not known. */
function begunMs(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.birthtimeMs ?? 0) - 1000;
}

/** The name of the process that made it; "none" of what no run made. */
function processOf(name: string): string {
  return /-(\d+x[0-9a-f]+)(\.new)?$/.exec(name)?.[1] ?? "none";
}

function pidOf(name: string): number {
  return Number.parseInt(processOf(name), 10) || 0;
}

function tokenOf(run: string): string {
  return `mlrb:${run}:`;
}
