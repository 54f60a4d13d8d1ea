// Keeps the log of a stage that never stops printing from filling the disk while the stage runs: gives the middle of
// the file back to the file system. The stage holds the file open to append to it, so nothing may move: a reader that
// follows by position goes on, and the newest end is always there.
import { spawnSync } from "node:child_process";
import { closeSync, ftruncateSync, openSync, readSync, statSync, writeSync } from "node:fs";

export type LogCap = { headBytes: number; tailBytes: number };

/** What is kept of a log: its beginning and its end. While it grows it may take another `tailBytes` of the disk. */
export const logCap: LogCap = { headBytes: 16 << 20, tailBytes: 48 << 20 };

const lookMs = 300;

/** Holds a log to its cap until `release` is called. */
export function boundLog(path: string, cap = logCap): { release(): void } {
  const bound = logBound(path, cap);
  const timer = setInterval(bound.look, lookMs).unref();
  return {
    release() {
      clearInterval(timer);
      bound.look();
    },
  };
}

/** The same where `look` is called by whoever adds to it. Never throws: no stage fails for its log. */
export function logBound(path: string, { headBytes, tailBytes }: LogCap = logCap): { look(): void } {
  let dropped = headBytes;
  return {
    look() {
      try {
        const until = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) - tailBytes;
        if (until - dropped < tailBytes) return; // a little more each time would be work without end
        dropRange(path, { start: dropped, end: until });
        dropped = until;
      } catch {
        // a disk in trouble, for one: the next look tries again
      }
    },
  };
}

/**
 * Where a reader that is at `at` of `size` bytes goes on: behind what was given back, and what may be while it reads.
 * A reader before `headBytes` reads up to there at most.
 */
export function heldFrom(at: number, size: number, { headBytes, tailBytes }: LogCap = logCap): number {
  if (size < headBytes + 2 * tailBytes || at < headBytes || at >= size - tailBytes / 2) return at;
  return size - Math.floor(tailBytes / 4);
}

type Range = { start: number; end: number };

/** Gives the bytes of a range back to the file system. Where holes cannot be punched, truncation makes one. */
export function dropRange(path: string, range: Range, punch = punchHole): void {
  if (!punch(path, range)) truncateRange(path, range);
}

/** False where this system has no such program, or the file system no such call. */
function punchHole(path: string, { start, end }: Range): boolean {
  const range = ["--offset", String(start), "--length", String(end - start)];
  const { status } = spawnSync("fallocate", ["--punch-hole", ...range, path], { stdio: "ignore" });
  return status === 0;
}

/**
 * Cuts the file off and makes it as long as before, then writes its end again where it was. What is written to it in
 * the microseconds between the last read and the cut is lost.
 */
function truncateRange(path: string, { start, end }: Range): void {
  const file = openSync(path, "r+");
  try {
    const tail: Buffer[] = [];
    let size = end;
    for (;;) {
      const bytes = Buffer.allocUnsafe(1 << 20);
      const count = readSync(file, bytes, 0, bytes.length, size);
      if (count === 0) break;
      tail.push(bytes.subarray(0, count));
      size += count;
    }
    ftruncateSync(file, start);
    ftruncateSync(file, size);
    let at = end;
    for (const bytes of tail)
      for (let done = 0; done < bytes.length; ) {
        const count = writeSync(file, bytes, done, bytes.length - done, at);
        done += count;
        at += count;
      }
  } finally {
    closeSync(file);
  }
}
