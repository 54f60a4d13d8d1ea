// One owner at a time for a named piece of work, over all runs on one state folder. A lease is a file
// that names its owner; a dead owner's lease is taken over without asking. No unlock step exists.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export type Owner = { host: string; boot: string; pid: number; started: string };

/** This process, so that a reused pid or another boot is not taken for it. */
export function thisProcess(): Owner {
  return { host: hostname(), boot: bootId(), pid: process.pid, started: startOf(process.pid) ?? "" };
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

/** The start time of a living process in clock ticks; undefined when it is dead, a zombie included. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    if (process.platform === "linux") return undefined;
  }
  try {
    process.kill(pid, 0);
    return "";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "" : undefined;
  }
}

export function isAlive(owner: Owner): boolean {
  if (owner.host !== hostname()) return true; // another machine's: not ours to judge
  if (owner.boot !== bootId()) return false;
  return startOf(owner.pid) === owner.started;
}

export type Lease = { release(): void };

/** Takes the lease `name`, or says who holds it. */
export function tryLease(
  folder: string,
  name: string,
  owner: Owner = thisProcess(),
): Lease | { heldBy: Owner } {
  const path = join(folder, name);
  const mine = `${path}.${owner.pid}.${process.hrtime.bigint()}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(mine, JSON.stringify(owner));
  try {
    for (;;) {
      try {
        linkSync(mine, path); // fails where there is one: the only step that grants
        return { release: () => rmSync(path, { force: true }) };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
      const holder = readOwner(path);
      if (holder === undefined) continue; // released in between
      if (isAlive(holder)) return { heldBy: holder };
      // Moving it aside is granted to one only. What was moved is looked at again: it may be a fresh
      // lease that another run has put there since, and then it goes back.
      const aside = `${mine}.dead`;
      try {
        renameSync(path, aside);
      } catch {
        continue;
      }
      const moved = readOwner(aside);
      if (moved && isAlive(moved)) {
        try {
          linkSync(aside, path);
        } catch {
          // a third run has it by now; the moved owner's result is still published by rename, once
        }
      }
      rmSync(aside, { force: true });
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

function readOwner(path: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Owner;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    return { host: hostname(), boot: "", pid: 0, started: "" }; // unreadable: nobody's
  }
}

/**
 * Waits for the lease. `waiting` is called once, with the holder, when it is not free at once. Gives
 * undefined only when `stopped` says that nobody wants it any more.
 */
export async function takeLease(
  folder: string,
  name: string,
  waiting: (owner: Owner) => void,
): Promise<Lease>;
export async function takeLease(
  folder: string,
  name: string,
  waiting: (owner: Owner) => void,
  stopped: () => boolean,
): Promise<Lease | undefined>;
export async function takeLease(
  folder: string,
  name: string,
  waiting: (owner: Owner) => void,
  stopped = () => false,
): Promise<Lease | undefined> {
  for (let told = false; ; told = true) {
    const lease = tryLease(folder, name);
    if ("release" in lease) return lease;
    if (stopped()) return undefined;
    if (!told) waiting(lease.heldBy);
    await sleep(100);
  }
}
