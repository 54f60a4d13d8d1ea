// What a living run has adopted from a dead one: a job or a container, by a lease in the dead run's folder.
// Without it, the end of a third run would cancel what another run waits for. The lease of a dead adopter is free.
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { look } from "../leases/heartbeat.ts";
import { tryLease } from "../leases/lease.ts";
import { isAlive, isSameProcess, thisProcess } from "../leases/owner.ts";
import { ifReadable } from "../store/if-readable.ts";

const folderName = "adopted";

/**
 * Takes `name`, which the dead run `from` left, for the run `run` of this process; false if another living run has
 * it or its folder is gone. `work` is the folder of all runs' folders.
 */
export function takeLeft(
  work: string,
  { from, name, run }: { from: string; name: string; run: string },
): boolean {
  const folder = join(work, from, folderName);
  try {
    mkdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return false; // not made again: a folder without an owner would stay
    if (code !== "EEXIST") throw error;
  }
  const owner = thisProcess();
  const lease = tryLease(folder, name, { path: join(work, run, "owner.json"), owner });
  return "release" in lease || isSameProcess(lease.heldBy, owner);
}

/** Whether another living run waits for something that the run with this folder left. */
export function isAdoptedFrom(path: string): boolean {
  const folder = join(path, folderName);
  const names = ifReadable(() => readdirSync(folder)) ?? [];
  return names.some((name) => {
    const owner = look(join(folder, name))?.owner;
    return owner !== undefined && isAlive(owner) && !isSameProcess(owner, thisProcess());
  });
}
