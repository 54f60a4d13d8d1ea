// Keeps logs of stages that never stop printing to a size that one can keep and read: the beginning and the end.
// A stage writes to its log itself, so this is done once it has ended.
import { closeSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { formatBytes } from "@mlrb/core/units";
import { processName } from "@mlrb/kit/process-name";

/** A log of up to the sum of the two is left as it is. */
export const logCap = { headBytes: 16 << 20, tailBytes: 48 << 20 };

/** Takes whole lines out of the middle of a longer one, and says there how much. One that cannot be cut stays. */
export function capLog(path: string, cap = logCap): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= cap.headBytes + cap.tailBytes) return;
  try {
    cutMiddle(path, size, cap);
  } catch {
    // a full disk, for one: no stage fails for its log
  }
}

function cutMiddle(path: string, size: number, { headBytes, tailBytes }: typeof logCap): void {
  const temporary = `${path}.${processName}.tmp`;
  const from = openSync(path, "r");
  const to = openSync(temporary, "w");
  try {
    const head = lineEndBefore(from, headBytes);
    const tail = lineEndAfter(from, size - tailBytes);
    copy(from, to, { start: 0, end: head });
    const dropped = formatBytes(tail - head);
    const kept = `the first ${formatBytes(headBytes)} and the last ${formatBytes(tailBytes)}`;
    writeSync(
      to,
      `\nmlrb: ${tail - head} bytes (${dropped}) were left out here; of a log ${kept} are kept\n`,
    );
    copy(from, to, { start: tail, end: size });
    renameSync(temporary, path);
  } finally {
    closeSync(from);
    closeSync(to);
    rmSync(temporary, { force: true });
  }
}

const chunk = 1 << 16;

/** Where the last line that ends before `at` ends; `at` itself within a very long line. */
function lineEndBefore(file: number, at: number): number {
  const start = Math.max(0, at - chunk);
  const bytes = Buffer.alloc(at - start);
  const count = readSync(file, bytes, 0, bytes.length, start);
  const end = bytes.subarray(0, count).lastIndexOf(10);
  return end < 0 ? at : start + end + 1;
}

function lineEndAfter(file: number, at: number): number {
  const bytes = Buffer.alloc(chunk);
  const count = readSync(file, bytes, 0, chunk, at);
  const end = bytes.subarray(0, count).indexOf(10);
  return end < 0 ? at : at + end + 1;
}

function copy(from: number, to: number, { start, end }: { start: number; end: number }): void {
  const bytes = Buffer.alloc(1 << 20);
  for (let at = start; at < end; ) {
    const count = readSync(from, bytes, 0, Math.min(bytes.length, end - at), at);
    if (count === 0) return;
    for (let done = 0; done < count; ) done += writeSync(to, bytes, done, count - done);
    at += count;
  }
}
