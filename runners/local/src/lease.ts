// One owner at a time for a named piece of work, over all runs on one state folder. A lease is a file
// that names its owner; a dead owner's lease is taken over without asking. No unlock step exists.
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
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

/** False where the machine may have lost its power since: what was not synced then may be torn. */
export function isOfThisBoot(owner: Owner | undefined): boolean {
  return owner !== undefined && owner.boot === bootId();
}

/** Whether a process of this number lives on this machine, whichever it is. */
export function isRunning(pid: number): boolean {
  return pid > 0 && startOf(pid) !== undefined;
}

export type Lease = { release(): void };

/** A file that names the owner: leases are links to it, so that one appears whole or not at all. */
export type Card = { path: string; owner: Owner };

/** Takes the lease `name`, or says who holds it. Without a card one is written for the occasion. */
export function tryLease(folder: string, name: string, card?: Card): Lease | { heldBy: Owner } {
  if (card) return tryWith(card, join(folder, name));
  const owner = thisProcess();
  const path = join(folder, `${name}.${owner.pid}.${process.hrtime.bigint()}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, JSON.stringify(owner));
  try {
    return tryWith({ path, owner }, join(folder, name));
  } finally {
    rmSync(path, { force: true });
  }
}

function tryWith(card: Card, path: string): Lease | { heldBy: Owner } {
  for (;;) {
    try {
      linkSync(card.path, path); // fails where there is one: the only step that grants
      return { release: () => letGo(path) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const holder = readOwner(path);
    if (holder === undefined) continue; // released in between
    if (isAlive(holder)) return { heldBy: holder };
    // Moving it aside is granted to one only. What was moved is looked at again: it may be a fresh
    // lease that another run has put there since, and then it goes back.
    const aside = `${path}.${card.owner.pid}.${process.hrtime.bigint()}.dead`;
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
}

/** A lease that cannot be removed ends with its owner; that is no reason to lose what was done under it. */
function letGo(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // the disk's trouble is told by whatever needs the disk
  }
}

/** Lets go of what dead processes hold, by the rules by which any run would take it over. */
export function releaseDead(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.includes(".")) continue; // on its way in or out
    const holder = readOwner(join(folder, name));
    if (holder === undefined || isAlive(holder)) continue;
    const lease = tryLease(folder, name);
    if ("release" in lease) lease.release();
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

export type LeaseWait = {
  /** Called once, with the holder, when the lease is not free at once. */
  waiting?: (owner: Owner) => void;
  /** Says that nobody wants it any more. */
  stopped?: () => boolean;
  card?: Card;
};

/** Waits for the lease; undefined only when `stopped` says so. */
export async function takeLease(
  folder: string,
  name: string,
  wait: LeaseWait = {},
): Promise<Lease | undefined> {
  for (let told = false; ; told = true) {
    const lease = tryLease(folder, name, wait.card);
    if ("release" in lease) return lease;
    if (wait.stopped?.()) return undefined;
    if (!told) wait.waiting?.(lease.heldBy);
    await sleep(100);
  }
}
