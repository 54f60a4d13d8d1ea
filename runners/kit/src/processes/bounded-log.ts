// Bounds the log of a running stage, so that endless output does not fill the disk: punches a hole into the middle
// of the file. The stage has the file open for appending, so positions must not change. Readers that follow by
// position go on, and the newest end is always present.
import { spawnSync } from "node:child_process";
import { ftruncateSync, readSync, statSync, writeSync } from "node:fs";
import { openedFile } from "../files/opened-file.ts";

export type LogCap = { headBytes: number; tailBytes: number };

/** The bytes of a log that are kept at its start and end. While it grows it may take another `tailBytes`. */
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

/** The same without a timer: the writer calls `look`. Never throws: no stage fails because of its log. */
export function logBound(path: string, { headBytes, tailBytes }: LogCap = logCap): { look(): void } {
  let dropped = headBytes;
  return {
    look() {
      try {
        const until = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) - tailBytes;
        if (until - dropped < tailBytes) return; // small steps would mean endless work
        dropRange(path, { start: dropped, end: until });
        dropped = until;
      } catch {
        // e.g. a failing disk: the next look tries again
      }
    },
  };
}

/**
 * The position at which a reader at `at` of `size` bytes continues: after the hole, and after bytes that may
 * become a hole while it reads. A reader before `headBytes` reads at most up to there.
 */
export function heldFrom(at: number, size: number, { headBytes, tailBytes }: LogCap = logCap): number {
  if (size < headBytes + 2 * tailBytes || at < headBytes || at >= size - tailBytes / 2) return at;
  return size - Math.floor(tailBytes / 4);
}

type Range = { start: number; end: number };

/** Frees the bytes of a range. If holes cannot be punched, truncation makes one. */
export function dropRange(path: string, range: Range, punch = punchHole): void {
  if (!punch(path, range)) truncateRange(path, range);
}

/** False if the system lacks the program, or the file system the call. */
function punchHole(path: string, { start, end }: Range): boolean {
  const range = ["--offset", String(start), "--length", String(end - start)];
  const { status } = spawnSync("fallocate", ["--punch-hole", ...range, path], { stdio: "ignore" });
  return status === 0;
}

/**
 * Truncates the file, extends it to its old length and writes its end again at the old position. Output in the
 * microseconds between the last read and the truncation is lost.
 */
function truncateRange(path: string, { start, end }: Range): void {
  using file = openedFile(path, "r+");
  const { descriptor } = file;
  const tail: Buffer[] = [];
  let size = end;
  for (;;) {
    const bytes = Buffer.allocUnsafe(1 << 20);
    const count = readSync(descriptor, bytes, 0, bytes.length, size);
    if (count === 0) break;
    tail.push(bytes.subarray(0, count));
    size += count;
  }
  ftruncateSync(descriptor, start);
  ftruncateSync(descriptor, size);
  let at = end;
  for (const bytes of tail)
    for (let done = 0; done < bytes.length; ) {
      const count = writeSync(descriptor, bytes, done, bytes.length - done, at);
      done += count;
      at += count;
    }
}
