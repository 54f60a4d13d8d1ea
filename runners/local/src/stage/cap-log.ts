// Caps the log of a stage once the stage has ended: keeps the beginning, the end, and between them how much is
// missing. While the stage runs, kit/processes/bounded-log limits the log.
import { appendFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { formatBytes } from "@mlrb/core/text/units";
import { readFrom } from "@mlrb/kit/files/read-from";
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
  const head = readFrom(path, 0, cap.headBytes)!;
  const tail = readFrom(path, size - cap.tailBytes, cap.tailBytes)!;
  // up to the end of a line, and from the start of one; not within a very long line
  const end = head.lastIndexOf(10) + 1;
  const kept = head.subarray(0, end > 0 && head.length - end < longLine ? end : undefined);
  const start = tail.indexOf(10) + 1;
  const rest = tail.subarray(start > longLine ? 0 : start);
  try {
    writeFileSync(temporary, kept);
    appendFileSync(temporary, leftOut(size - kept.length - rest.length, cap));
    appendFileSync(temporary, rest);
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

const longLine = 1 << 16;

/** The line in a log where bytes are missing. */
export function leftOut(bytes: number, { headBytes, tailBytes }: LogCap = logCap): string {
  const kept = `the first ${formatBytes(headBytes)} and the last ${formatBytes(tailBytes)}`;
  return `\nmlrb: ${bytes} bytes (${formatBytes(bytes)}) were left out here; of a log ${kept} are kept\n`;
}
