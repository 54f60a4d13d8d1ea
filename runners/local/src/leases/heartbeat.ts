// The heartbeat shows runs on other hosts that an owner lives. The owner moves the modification time of its card;
// all its leases are links to the card, so one beat is visible at each. Other runs watch whether the time moves.
// The times are counted and not read from a clock, and are two seconds apart, because some file systems keep no
// finer times. The content of the card is never written again, so no reader sees a partial card.

import { closeSync, fstatSync, futimesSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { openedFile } from "@mlrb/kit/files/opened-file";
import { ifReadable } from "../store/if-readable.ts";
import { thisPlace } from "./owner.ts";

const beatMs = 2_000;

/**
 * Time without a visible heartbeat after which an owner on another host is silent. Thirty beats: longer than a
 * file server hides a change (a minute at most) or a disk delays a beat.
 */
export const silentAfterMs = 60_000;

export type Heart = { beat(): void; stop(): void };

/** Beats while the process lives, and does not keep the process alive. `path`: the owner's card. */
export function startHeart(path: string, everyMs = beatMs): Heart {
  // by descriptor: the card may be moved or removed, and its leases are the same file
  const card = openSync(path, "r");
  let seconds = Math.floor(fstatSync(card).mtimeMs / 1000);
  const beat = () => {
    seconds += 2;
    try {
      futimesSync(card, seconds, seconds);
    } catch {
      // code that needs the disk reports its errors; the next beat may succeed
    }
  };
  const timer = setInterval(beat, everyMs);
  timer.unref();
  let stopped = false;
  return {
    beat,
    stop: () => {
      if (stopped) return;
      stopped = true;
      clearInterval(timer);
      closeSync(card);
    },
  };
}

/** A card or a lease as it is now. `beat` differs after every heartbeat and for every other owner. */
export type Sight = { owner: Owner; beat: string; mtimeMs: number };

/** Undefined if the file is missing. A file without an owner, torn by a power cut, counts as a dead owner's. */
export function look(path: string): Sight | undefined {
  try {
    // opening a file makes a file server's client refresh its stat; a plain stat may not
    using file = openedFile(path, "r");
    const { ino, mtimeNs, mtimeMs } = fstatSync(file.descriptor, { bigint: true });
    const text = readFileSync(file.descriptor, "utf8");
    return { owner: ownerIn(text), beat: `${ino} ${mtimeNs} ${text}`, mtimeMs: Number(mtimeMs) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ESTALE: removed on the file server since it was opened; ENOTDIR: a stray file among the work folders
    if (code === "ENOENT" || code === "ESTALE" || code === "ENOTDIR") return undefined;
    throw error; // an unreadable lease is not free
  }
}

function ownerIn(text: string): Owner {
  const owner = ifReadable(() => JSON.parse(text) as Owner | null);
  if (typeof owner?.host === "string" && typeof owner.pid === "number") return owner;
  return { host: thisPlace().host, boot: "", pid: 0, started: "" };
}

/** The clock of a watcher. Tests advance it by hand. */
export type Clock = {
  /** Monotonic milliseconds. */ now(): number;
  sleep(ms: number): Promise<void>;
};

export const clock: Clock = { now: () => performance.now(), sleep: (ms) => sleep(ms) };

/** The most that the time between two looks counts: a process that slept has not watched. */
const gapMaxMs = 5_000;

/** Measures how long a value has not changed, by this process's own clock. */
export class Stillness {
  readonly #now: () => number;
  #seen: string | undefined;
  #at = 0;
  #ms = 0;

  constructor({ now }: Clock) {
    this.#now = now;
  }

  /** Returns the milliseconds since this value was first seen. */
  look(seen: string): number {
    const now = this.#now();
    const same = seen === this.#seen;
    this.#ms = same ? this.#ms + Math.min(Math.max(now - this.#at, 0), gapMaxMs) : 0;
    this.#seen = seen;
    this.#at = now;
    return this.#ms;
  }
}
