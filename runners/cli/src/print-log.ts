// Prints a log of any size without holding it: piece by piece, or its last lines, with nothing in it that steers a
// terminal.
import { closeSync, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { terminalSafe } from "@mlrb/core/terminal-safe";

type Print = (text: string) => Promise<void> | void;

/** From the byte where the last `tail` lines begin, or from the first. Ends with a line end unless there is nothing. */
export async function printLog(path: string, print: Print, tail?: number): Promise<void> {
  const start = tail === undefined ? 0 : tailStart(path, tail);
  const decoder = new StringDecoder("utf8");
  let held = "";
  let last = "\n";
  const give = async (text: string) => {
    if (text === "") return;
    const safe = terminalSafe(text);
    last = safe.at(-1)!;
    await print(safe);
  };
  try {
    for await (const bytes of createReadStream(path, {
      start,
      highWaterMark: 1 << 18,
    }) as AsyncIterable<Buffer>) {
      const text = held + decoder.write(bytes);
      held = text.endsWith("\r") ? "\r" : ""; // perhaps half of a line end
      await give(held ? text.slice(0, -1) : text);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await give(held + decoder.end());
  if (last !== "\n") await print("\n");
}

/** Where the last `lines` lines of a file begin; 0 where it has fewer, or is not there. */
export function tailStart(path: string, lines: number, chunk = 1 << 16): number {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return 0;
  }
  try {
    const { size } = fstatSync(file);
    if (lines === 0) return size;
    const bytes = Buffer.alloc(chunk);
    let left = lines;
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - chunk);
      const count = readSync(file, bytes, 0, end - start, start);
      for (let at = count - 1; at >= 0; at--) {
        // the last line's own end begins no line
        if (bytes[at] === 10 && start + at !== size - 1 && --left === 0) return start + at + 1;
      }
      end = start;
    }
    return 0;
  } finally {
    closeSync(file);
  }
}
