// After a closed terminal, `| head`, or a full disk behind `> file` the output is lost, but the run continues to
// its end: stages would outlive a program that stopped here, and its exit status reports the run.
import { writeSync } from "node:fs";

type Output = {
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
  write: NodeJS.WriteStream["write"];
};

/** The message on the other output; undefined if the reader closed the pipe. */
export function lostWords(name: string, { code, message }: NodeJS.ErrnoException): string | undefined {
  if (code === "EPIPE") return undefined;
  const why = code === "ENOSPC" || code === "EDQUOT" ? "no space left at its destination" : message;
  return `${name} was cut off: ${why}; the program continued without it\n`;
}

/** Continues without an output that fails, and reports it on the other one at the program's end. */
export function continueWithoutOutput(outputs: Record<string, Output & { fd: number }>): void {
  const lost = new Map<string, string | undefined>();
  for (const [name, stream] of Object.entries(outputs)) {
    stream.on("error", (error) => {
      if (lost.has(name)) return;
      lost.set(name, lostWords(name, error));
      stream.write = () => true;
    });
  }
  process.on("exit", () => {
    for (const words of lost.values()) {
      if (words === undefined) continue;
      for (const [name, { fd }] of Object.entries(outputs)) if (!lost.has(name)) say(fd, words);
    }
  });
}

function say(fd: number, words: string): void {
  try {
    writeSync(fd, words);
  } catch {
    // that output is lost too
  }
}
