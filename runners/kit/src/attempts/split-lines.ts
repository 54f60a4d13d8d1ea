// Splits a file of an attempt into lines, at line feeds only. Node's readline also splits at U+2028 and U+2029,
// which JSON leaves in its texts: a program that prints one would make its own trajectory unreadable.
import { createReadStream } from "node:fs";
import { readingLimits } from "../admission/reading-limits.ts";

const { trajectoryLineBytes } = readingLimits;

/** Lines as bytes. A string is a problem and ends the sequence. */
export async function* splitLines(path: string): AsyncGenerator<Buffer | string> {
  let rest: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        yield Buffer.concat([...rest, chunk.subarray(from, end)]);
        rest = [];
        length = 0;
        from = end + 1;
      }
      rest.push(chunk.subarray(from));
      length += chunk.length - from;
      if (length > trajectoryLineBytes.max) return yield "longer than 4 MiB";
    }
  } catch (error) {
    return yield `cannot be read: ${(error as NodeJS.ErrnoException).code}`;
  }
  if (length > 0) yield "cut off in the middle";
}
