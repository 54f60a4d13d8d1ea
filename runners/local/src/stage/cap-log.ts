// Caps the log of a stage once the stage has ended: keeps the beginning, the end, and between them how much is missing.
// While the stage runs, kit/processes/bounded-log limits the log.
import { closeSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { formatBytes } from "@mlrb/core/text/units";
import { type LogCap, logCap } from "@mlrb/kit/processes/bounded-log";
import { processName } from "@mlrb/kit/processes/process-name";

/** Cuts whole lines from the middle of a log that exceeds its cap. A log that cannot be cut stays unchanged. */
export function capLog(path: string, cap = logCap): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  // a log that was cut before contains that line
  if (size <= cap.headBytes + cap.tailBytes + Buffer.byteLength(leftOut(size, cap))) return;
  try {
    cutMiddle(path, size, cap);
  } catch {
    // e.g. a full disk: no stage fails because of its log
  }
}

function cutMiddle(path: string, size: number, cap: LogCap): void {
  const temporary = `${path}.${processName}.tmp`;
  const from = openSync(path, "r");
  const to = openSync(temporary, "w");
  try {
    const head = lineEndBefore(from, cap.headBytes);
    const tail = lineEndAfter(from, size - cap.tailBytes);
    copy(from, to, { start: 0, end: head });
    writeSync(to, leftOut(tail - head, cap));
    copy(from, to, { start: tail, end: size });
    renameSync(temporary, path);
  } finally {
    closeSync(from);
    closeSync(to);
    rmSync(temporary, { force: true });
  }
}

/** The line in a log where bytes are missing. */
export function leftOut(bytes: number, { headBytes, tailBytes }: LogCap = logCap): string {
  const kept = `the first ${formatBytes(headBytes)} and the last ${formatBytes(tailBytes)}`;
  return `\nmlrb: ${bytes} bytes (${formatBytes(bytes)}) were left out here; of a log ${kept} are kept\n`;
}

const chunk = 1 << 16;

/** The end of the last line that ends before `at`; `at` itself within a very long line. */
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
