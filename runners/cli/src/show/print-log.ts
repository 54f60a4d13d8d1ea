// Prints a log of any size piece by piece, or only its last lines, without control sequences. Of a line that its
// program redrew, the last state.
import { closeSync, createReadStream, fstatSync, openSync, readSync, statSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { redrawnLines } from "@mlrb/core/text/redrawn-lines";
import { terminalSafe } from "@mlrb/core/text/terminal-safe";
import { heldFrom, type LogCap, logCap } from "@mlrb/kit/processes/bounded-log";
import { leftOut } from "@mlrb/local/stage/cap-log";

type Print = (text: string) => Promise<void> | void;

type PrintOptions = { tail?: number | undefined; cap?: LogCap };

/**
 * Prints the last `tail` lines, or all. Ends with a line end unless the log is empty. If a running stage has
 * written more than its log holds, prints the beginning and the end.
 */
export async function printLog(
  path: string,
  print: Print,
  { tail, cap = logCap }: PrintOptions = {},
): Promise<void> {
  const start = tail === undefined ? 0 : tailStart(path, tail, { cap });
  const decoder = new StringDecoder("utf8");
  let lines = redrawnLines();
  let last = "\n";
  const give = async (text: string) => {
    if (text === "") return;
    const safe = terminalSafe(text);
    last = safe.at(-1)!;
    await print(safe);
  };
  const read = async (range: { start: number; end?: number }) => {
    const pieces = createReadStream(path, { ...range, highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>;
    for await (const bytes of pieces) {
      await give(lines.push(decoder.write(bytes)));
    }
  };
  const rest = () => lines.push(decoder.end()) + lines.end();
  try {
    const { headBytes } = cap;
    const goesOn = heldFrom(headBytes, statSync(path).size, cap);
    if (start >= headBytes || goesOn === headBytes) {
      await read({ start });
    } else {
      await read({ start, end: headBytes - 1 });
      await give(rest() + leftOut(goesOn - headBytes, cap));
      lines = redrawnLines();
      await read({ start: goesOn });
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await give(rest());
  if (last !== "\n") await print("\n");
}

type TailOptions = { chunk?: number; cap?: LogCap };

/** The offset of the last `lines` lines of a file; the start of its kept end if it has fewer; 0 without a file. */
export function tailStart(
  path: string,
  lines: number,
  { chunk = 1 << 16, cap = logCap }: TailOptions = {},
): number {
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
    const held = heldFrom(cap.headBytes, size, cap);
    const first = held > cap.headBytes ? held : 0;
    let left = lines;
    for (let end = size; end > first; ) {
      const start = Math.max(first, end - chunk);
      const count = readSync(file, bytes, 0, end - start, start);
      for (let at = count - 1; at >= 0; at--) {
        // the end of the last line starts no further line
        if (bytes[at] === 10 && start + at !== size - 1 && --left === 0) return start + at + 1;
      }
      end = start;
    }
    return first;
  } finally {
    closeSync(file);
  }
}
