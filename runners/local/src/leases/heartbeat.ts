// How runs on several hosts see that another still lives: the owner moves the modification time of its
// card, which all its leases are links to, so one beat is seen at each; others watch whether it moves.
// The times are counted, not told by a clock, and two seconds apart, since some file systems keep no
// finer ones; the card's content is never written again, so nobody can read half of it.

import { closeSync, fstatSync, futimesSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { thisPlace } from "./owner.ts";

const beatMs = 2_000;

/**
 * How long another host's heartbeat may stand still, as seen from here, before it is taken for silent:
 * thirty beats, more than a file server hides a change (a minute at most) or a disk makes one wait.
 */
export const silentAfterMs = 60_000;

export type Heart = { beat(): void; stop(): void };

/** Beats for as long as the process lives, and keeps it from nothing. `path`: the owner's card. */
export function startHeart(path: string, everyMs = beatMs): Heart {
  // by descriptor: the card may be moved or removed, its leases are the same file
  const card = openSync(path, "r");
  let seconds = Math.floor(fstatSync(card).mtimeMs / 1000);
  const beat = () => {
    seconds += 2;
    try {
      futimesSync(card, seconds, seconds);
    } catch {
      // the disk's trouble is told by whatever needs the disk; the next beat may get through
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

/** A card or a lease as it is now; `beat` differs after every heartbeat and for every other owner. */
export type Sight = { owner: Owner; beat: string };

/** undefined: it is gone. What does not name an owner, torn by a power cut, is nobody's: dead anywhere. */
export function look(path: string): Sight | undefined {
  try {
    const file = openSync(path, "r"); // opening makes a file server's client ask anew; a plain stat may not
    try {
      const { ino, mtimeNs } = fstatSync(file, { bigint: true });
      const text = readFileSync(file, "utf8");
      return { owner: ownerIn(text), beat: `${ino} ${mtimeNs} ${text}` };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ESTALE: removed on the file server since it was opened; ENOTDIR: a stray file among the work folders
    if (code === "ENOENT" || code === "ESTALE" || code === "ENOTDIR") return undefined;
    throw error; // not to be read is not free
  }
}

function ownerIn(text: string): Owner {
  try {
    const owner = JSON.parse(text) as Owner | null;
    if (typeof owner?.host === "string" && typeof owner.pid === "number") return owner;
  } catch {
    // said below
  }
  return { host: thisPlace().host, boot: "", pid: 0, started: "" };
}

/** What time is for whoever watches: a test moves it by hand. */
export type Clock = {
  /** Milliseconds, which only ever grow. */ now(): number;
  sleep(ms: number): Promise<void>;
};

export const clock: Clock = { now: () => performance.now(), sleep: (ms) => sleep(ms) };

/** Time between two looks counts for this much at most: who slept meanwhile has not watched. */
const gapMaxMs = 5_000;

/** For how long something that is looked at again and again has not changed, by this process's own clock. */
export class Stillness {
  readonly #now: () => number;
  #seen: string | undefined;
  #at = 0;
  #ms = 0;

  constructor({ now }: Clock) {
    this.#now = now;
  }

  /** Milliseconds since it was first seen to be like this. */
  look(seen: string): number {
    const now = this.#now();
    const same = seen === this.#seen;
    this.#ms = same ? this.#ms + Math.min(Math.max(now - this.#at, 0), gapMaxMs) : 0;
    this.#seen = seen;
    this.#at = now;
    return this.#ms;
  }
}
