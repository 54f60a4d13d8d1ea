// One owner at a time for a named piece of work, over all runs on one state folder. A lease is a file that names
// its owner. The lease of a dead owner is taken over without asking; there is no unlock step. For an owner on
// another host the heartbeat decides. A silent owner's lease is taken over if doing the work twice does no harm,
// and otherwise only with `--take-over`.

import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { processName } from "@mlrb/kit/processes/process-name";
import { type Clock, clock, look, type Sight, Stillness, silentAfterMs } from "./heartbeat.ts";
import { isAlive, lifeOf, thisProcess } from "./owner.ts";

export type Lease = {
  release(): void;
  /** False if another run took the lease over: this run's result must not be published as the only one. */
  isHeld(): boolean;
  /** The earlier owner on another host, with the time for which that owner was silent. */
  from?: { owner: Owner; silentMs: number };
};

/** A durable lease that was not taken: its owner, on another host, was silent for this time. */
export type Silent = { silent: Owner; silentMs: number };

/** A file that names the owner. Leases are links to the card, so that a lease appears whole or not at all. */
export type Card = { path: string; owner: Owner };

type Held = { heldBy: Owner; beat: string };

/** Takes the lease `name`, or returns its holder. Without `card`, writes a card for this lease. */
export function tryLease(folder: string, name: string, card?: Card): Lease | Held {
  const path = join(folder, name);
  if (card) return tryWith(card, path);
  const owner = thisProcess();
  const own = join(folder, `${name}.${processName}.${process.hrtime.bigint()}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(own, JSON.stringify(owner));
  try {
    return tryWith({ path: own, owner }, path);
  } finally {
    rmSync(own, { force: true });
  }
}

function tryWith(card: Card, path: string): Lease | Held {
  for (;;) {
    try {
      linkSync(card.path, path); // fails if the lease exists: the only step that grants
      return leaseAt(path, lstatSync(card.path, { bigint: true }).ino);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" && !existsSync(card.path)) throw cardGone();
      if (code !== "EEXIST") throw error;
    }
    const holder = look(path);
    if (holder === undefined) continue; // released in the meantime
    if (isAlive(holder.owner)) return { heldBy: holder.owner, beat: holder.beat };
    moveAside(path, ({ owner }) => !isAlive(owner));
  }
}

function cardGone(): Error {
  const how = "another run took this one for dead (--take-over), or .mlrb/work was cleared by hand";
  return Object.assign(new Error(`the card that names this run is gone: ${how}; run again`), {
    code: "ENOENT",
  });
}

/** Releases a silent owner's lease, unless its beat or its owner has changed since `beat`. */
export function releaseSilent(folder: string, name: string, beat: string): void {
  moveAside(join(folder, name), (moved) => moved.beat === beat);
}

/**
 * Takes a lease away from its owner. Only one run can move the lease aside. The moved file is checked again: if it
 * is a fresh lease of another run, it is put back.
 */
function moveAside(path: string, isGone: (moved: Sight) => boolean): void {
  const aside = `${path}.${processName}.${process.hrtime.bigint()}.dead`;
  try {
    renameSync(path, aside);
  } catch {
    return; // another run moved it first
  }
  const moved = look(aside);
  if (moved && !isGone(moved)) {
    try {
      linkSync(aside, path);
    } catch {
      // a third run holds the lease by now; the moved owner still publishes its result by rename, once
    }
  }
  rmSync(aside, { force: true });
}

function leaseAt(path: string, ino: bigint): Lease {
  // after a sleep this run's lease may belong to another run, which must keep it
  const isHeld = () => lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino === ino;
  const release = () => {
    try {
      if (isHeld()) unlinkSync(path);
    } catch {
      // A lease that cannot be removed ends with its owner. The work under it is kept, and code that needs the
      // disk reports its errors.
    }
  };
  return { isHeld, release };
}

/** Releases leases of dead processes, by the rules for taking them over. */
export function releaseDead(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.includes(".")) continue; // on its way in or out
    const holder = look(join(folder, name));
    if (holder === undefined || isAlive(holder.owner)) continue;
    const lease = tryLease(folder, name);
    if ("release" in lease) lease.release();
  }
}

export type LeaseWait = {
  /** Called with the holder if the lease is not free at once, and again for each other holder. */
  waiting?: (owner: Owner) => void;
  /** Whether to stop waiting. */
  stopped?: () => boolean;
  card?: Card;
  /** The work under the lease costs too much to be done twice. */
  durable?: boolean;
  /** `--take-over`: silent hosts are down. */
  takeOver?: boolean;
  /** Time without a heartbeat after which a run on another host is silent; a minute by default. */
  silentMs?: number | undefined;
  clock?: Clock;
};

/**
 * Milliseconds between tries. A lease from another host is tried less often, because each look queries a file
 * server.
 */
const tryMs = { alive: 100, elsewhere: 250 };

/** Waits for the lease. Returns undefined only if `stopped` returns true, and `Silent` only for a durable lease. */
export function takeLease(
  folder: string,
  name: string,
  wait?: LeaseWait & { durable?: false },
): Promise<Lease | undefined>;
export function takeLease(folder: string, name: string, wait: LeaseWait): Promise<Lease | Silent | undefined>;
export async function takeLease(
  folder: string,
  name: string,
  wait: LeaseWait = {},
): Promise<Lease | Silent | undefined> {
  const { durable = false, takeOver = false, silentMs: limitMs = silentAfterMs } = wait;
  const time = wait.clock ?? clock;
  const stillness = new Stillness(time);
  let reported: string | undefined;
  let from: Lease["from"];
  for (;;) {
    const lease = tryLease(folder, name, wait.card);
    if ("release" in lease) return from ? { ...lease, from } : lease;
    if (wait.stopped?.()) return undefined;
    const { heldBy, beat } = lease;
    const who = JSON.stringify(heldBy);
    if (who !== reported) wait.waiting?.(heldBy);
    reported = who;
    from = undefined;
    const elsewhere = lifeOf(heldBy) === "elsewhere";
    const silentMs = elsewhere ? stillness.look(beat) : 0;
    if (elsewhere && silentMs >= limitMs) {
      if (durable && !takeOver) return { silent: heldBy, silentMs };
      releaseSilent(folder, name, beat);
      from = { owner: heldBy, silentMs };
    } else {
      await time.sleep(elsewhere ? tryMs.elsewhere : tryMs.alive);
    }
  }
}
