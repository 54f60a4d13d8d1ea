// Copies a file of lines and cleans each line. Only a line is in memory: trajectories have gigabytes.
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline as piped } from "node:stream/promises";

const newline = 0x0a;

/**
 * Whether any line changed. Lines end at "\n" only: readline also splits at U+2028, which JSON texts may hold. A
 * torn last line stays torn.
 */
export async function copyCleanLines(
  from: string,
  to: string,
  clean: (line: string) => string,
): Promise<boolean> {
  let changed = false;
  const cleaned = (bytes: Buffer): Buffer => {
    const line = bytes.toString("utf8");
    const after = clean(line);
    if (after === line) return bytes; // also where it is not UTF-8
    changed = true;
    return Buffer.from(after);
  };
  const lines = async function* (source: AsyncIterable<Buffer>) {
    let held: Buffer[] = [];
    for await (const chunk of source) {
      let begin = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, begin)) {
        yield cleaned(Buffer.concat([...held, chunk.subarray(begin, end)]));
        yield Buffer.of(newline);
        held = [];
        begin = end + 1;
      }
      held.push(chunk.subarray(begin));
    }
    yield cleaned(Buffer.concat(held));
  };
  await piped(createReadStream(from), lines, createWriteStream(to));
  return changed;
}
