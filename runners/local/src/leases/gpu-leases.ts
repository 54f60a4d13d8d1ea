// Leases whole GPUs to one stage at a time, over all runs on this host. A device belongs to the owner that the
// lease names, and is free once that owner is dead. A waiting stage holds nothing, so there is no deadlock.

import { setTimeout as sleep } from "node:timers/promises";
import type { Gpu } from "@mlrb/core/ports/gpu";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { type Book, type Device, type Entry, gpuLeasesFolder, inBook, isGone } from "./gpu-book.ts";
import { type Ailment, ailmentsOf } from "./gpu-health.ts";
import { gpuInventory, gpusFor } from "./gpu-inventory.ts";
import { grantTo } from "./gpu-queue.ts";
import { isSameProcess, ownerWords, thisProcess } from "./owner.ts";

/** Identifies a lease, even in another process: plain data. */
export type GpuHold = { folder: string; id: number; owner: Owner };

export type GpuLease = {
  hold: GpuHold;
  gpus: readonly Gpu[];
  /** False once the lease was handed over, or was taken from an owner that seemed dead. */
  isHeld(): boolean;
  release(): void;
};

export type GpuWish = {
  count: number;
  run: string;
  /** The stage instance. */
  stage: string;
  /** Called with the holder of the wanted devices, and again when the holder changes. */
  waiting?: (holder: string) => void;
  /** Called with each omitted device and the reason. */
  leftOut?: (gpu: Gpu, why: string) => void;
  /** Whether to stop waiting. */
  stopped?: () => boolean;
  env?: NodeJS.ProcessEnv;
};

/** Interval of looks by a waiting request. */
const lookMs = 250;
/** A request without a look for this time delays no other request: its process was stopped, or is stuck. */
const silentMs = 60_000;
/** Interval until a device on which another process computes is checked again. */
const busyMs = 2_000;

/** Waits for the devices. Undefined only if `stopped` returns true. Throws if the leases cannot be used. */
export async function leaseGpus(wish: GpuWish): Promise<GpuLease | { lacking: string } | undefined> {
  const { count, env = process.env } = wish;
  const folder = gpuLeasesFolder({ env });
  const owner = thisProcess();
  const fitting = gpusFor(count, gpuInventory(env).gpus);
  const left = new Map<string, Ailment & { untilMs: number }>();
  let id = 0;
  let reported: string | undefined;
  let held = false;
  const tell = (holder: string) => {
    if (holder !== reported) wish.waiting?.(holder);
    reported = holder;
  };
  try {
    for (;;) {
      if (wish.stopped?.()) return undefined;
      const nowMs = hostMs();
      const usable = fitting.filter(({ uuid }) => left.get(uuid)?.kind !== "unfit");
      if (usable.length < count) return { lacking: lackingWords(count, fitting, left) };
      const candidates = usable.filter(({ uuid }) => (left.get(uuid)?.untilMs ?? 0) <= nowMs);
      const answer = inBook(folder, (book) => ask(book, { id, candidates, nowMs, owner, wish }), true);
      id = answer.id;
      if (!answer.granted) {
        const busy = usable.find((gpu) => !candidates.includes(gpu));
        const why = candidates.length < count && busy && left.get(busy.uuid)!.why;
        tell(why ? `${why} on GPU ${busy.index}` : holderWords(answer.before));
        await sleep(lookMs);
        continue;
      }
      const gpus = answer.granted;
      const ailments = await ailmentsOf(gpus, env);
      if (ailments.length === 0 && !wish.stopped?.()) {
        held = true;
        return leaseOf({ folder, id, owner }, gpus);
      }
      inBook(folder, (book) => book.letGo(id));
      for (const ailment of ailments) {
        const gpu = gpus.find(({ uuid }) => uuid === ailment.uuid)!;
        left.set(ailment.uuid, { ...ailment, untilMs: hostMs() + busyMs });
        if (ailment.kind === "unfit") wish.leftOut?.(gpu, ailment.why);
      }
    }
  } finally {
    if (!held && id > 0) inBook(folder, (book) => book.remove(id));
  }
}

type Asking = { id: number; candidates: Gpu[]; nowMs: number; owner: Owner; wish: GpuWish };

/** Looks once. Returns the granted devices, or the requests before this one. */
function ask(book: Book, { id, candidates, nowMs, owner, wish }: Asking) {
  const before = book.living();
  // if the book was removed, the request is added again, at the end
  const known = before.some((entry) => entry.id === id);
  const { count: wants, run, stage } = wish;
  const own = known ? id : book.add({ owner, run, stage, wants });
  const uuids = candidates.map(({ uuid }) => uuid);
  book.look(own, uuids, nowMs);
  const entries = book.living();
  const held = new Set(entries.flatMap(({ devices }) => devices.map(({ uuid }) => uuid)));
  const waiting = entries.filter(({ devices, seenMs }) => devices.length === 0 && seenMs > nowMs - silentMs);
  const all = new Set(waiting.flatMap((one) => one.candidates));
  const given = grantTo(
    own,
    waiting,
    [...all].filter((uuid) => !held.has(uuid)),
  );
  const granted = given && candidates.filter(({ uuid }) => given.includes(uuid));
  if (granted) book.hold(own, granted, new Date().toISOString());
  return { id: own, granted, before: entries.filter((entry) => isBefore(entry, own, uuids)) };
}

function isBefore({ id, devices }: Entry, own: number, uuids: string[]): boolean {
  return id !== own && (devices.length === 0 ? id < own : devices.some(({ uuid }) => uuids.includes(uuid)));
}

/**
 * Makes another process the owner of a lease, in one step. Undefined if the lease no longer belongs to `hold`:
 * then nothing may run on its devices. Either process may call this, even if the other one ends.
 */
export function handOver(hold: GpuHold, to: Owner = thisProcess()): GpuHold | undefined {
  const done = inBook(hold.folder, (book) => {
    const entry = entryOf(book, hold);
    if (entry) book.setOwner(hold.id, to);
    return entry !== undefined;
  });
  return done ? { ...hold, owner: to } : undefined;
}

/** Returns the lease that `hold` names, e.g. after a handover. */
export function leaseOf(hold: GpuHold, gpus: readonly Gpu[]): GpuLease {
  return {
    hold,
    gpus,
    isHeld: () => inBook(hold.folder, (book) => entryOf(book, hold) !== undefined) ?? false,
    release() {
      try {
        inBook(hold.folder, (book) => entryOf(book, hold) && book.remove(hold.id));
      } catch {
        // the lease ends with its owner; the work under it is kept
      }
    },
  };
}

function entryOf(book: Book, { id, owner }: GpuHold): Entry | undefined {
  return book
    .entries()
    .find((entry) => entry.id === id && entry.devices.length > 0 && isSameProcess(entry.owner, owner));
}

export type HeldGpu = Device & { owner: Owner; run: string; stage: string; since: string };

/** Lists which process holds which device now, for display. Changes nothing. Empty if no device was ever held. */
export function heldGpus(folder: string = gpuLeasesFolder({ make: false })): HeldGpu[] {
  const entries = inBook(folder, (book) => book.entries()) ?? [];
  return entries
    .filter(({ owner }) => !isGone(owner))
    .flatMap(({ devices, owner, run, stage, since }) =>
      devices.map((device) => ({ ...device, owner, run, stage, since })),
    )
    .sort((a, b) => a.index - b.index || (a.uuid < b.uuid ? -1 : 1));
}

/** The monotonic clock that all processes of the host share: nothing depends on the time of day. */
function hostMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

function holderWords(before: Entry[]): string {
  const holders = before.filter(({ devices }) => devices.length > 0);
  const [first] = holders.length > 0 ? holders : before;
  if (!first) return "a holder that has ended";
  const more = before.length > 1 ? ` and ${before.length - 1} more` : "";
  return `${first.stage} of ${ownerWords(first.owner)}${more}`;
}

function lackingWords(count: number, fitting: readonly Gpu[], left: Map<string, Ailment>): string {
  const unfit = fitting.filter(({ uuid }) => left.get(uuid)?.kind === "unfit");
  const whole = count > 1 ? "undivided " : "";
  const sound = fitting.length - unfit.length;
  const why = unfit.map(({ index, uuid }) => `; GPU ${index}: ${left.get(uuid)!.why}`).join("");
  return `it wants ${count} ${whole}GPU${count === 1 ? "" : "s"} and ${sound} of ${fitting.length} can be used${why}`;
}
