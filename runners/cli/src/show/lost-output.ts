// A terminal that was closed, `| head`, a full disk below `> file`: what the program says gets lost, what it does must
// not. The run goes on to its end: stages would outlive a program that stopped here, and its exit status says how
// the run went.
import { writeSync } from "node:fs";

type Output = {
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
  write: NodeJS.WriteStream["write"];
};

/** Which output was lost and why, in words for its other output; undefined where its reader had seen enough. */
export function lostWords(name: string, { code, message }: NodeJS.ErrnoException): string | undefined {
  if (code === "EPIPE") return undefined;
  const why = code === "ENOSPC" || code === "EDQUOT" ? "no space left at its destination" : message;
  return `${name} was cut off: ${why}; the program continued without it\n`;
}

/** Goes on without an output that fails; says so on the other one when the program ends. */
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
    // it is lost too
  }
}
