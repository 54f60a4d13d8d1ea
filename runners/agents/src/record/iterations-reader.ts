// Reads lines that the agent appends to iterations.jsonl while it works, so that the trajectory has each line at
// the time it came. The lines are the agent's claims: kept as text, counted, not trusted.
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import { isTable } from "@mlrb/formats/is-table";
import { parsedJson } from "../model/json-text.ts";

type Options = {
  sandbox: Sandbox;
  inside: string;
  write(event: { event: "iteration"; line: string; wellFormed: boolean }): void;
  redact(text: string): string;
  /** The lines that were read before a restart. */
  earlier?: { wellFormed: number; malformed: number };
};

const lineMax = 16 << 10;
const linesMax = 2000;
const readMax = 1 << 20;

export function iterationsReader({ sandbox, inside, write, redact, earlier }: Options) {
  let from = 0;
  let rest = Buffer.alloc(0);
  const count = { wellFormed: 0, malformed: 0, notKept: 0, ...earlier };
  let known = count.wellFormed + count.malformed;

  const line = (bytes: Buffer) => {
    const text = bytes.toString("utf8").trim();
    if (text === "") return;
    if (known > 0) {
      known--;
      return;
    }
    if (count.wellFormed + count.malformed >= linesMax) {
      count.notKept++;
      return;
    }
    const wellFormed = bytes.length <= lineMax && isIteration(text);
    count[wellFormed ? "wellFormed" : "malformed"]++;
    write({ event: "iteration", line: redact(text.slice(0, lineMax)), wellFormed });
  };

  return {
    /** Reads new lines; `last` takes a line without a line end too. */
    async read(last = false) {
      // one bounded piece each time: the rest comes with the next look, and at the end at most a hundred pieces
      for (let piece = 0; piece < (last ? 100 : 1); piece++) {
        const bytes = await sandbox.get(inside, { from, bytesMax: readMax });
        if (!bytes || bytes.length === 0) break;
        from += bytes.length;
        rest = Buffer.concat([rest, bytes]);
        for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
          line(rest.subarray(0, end));
          rest = rest.subarray(end + 1);
        }
        // a line without an end is cut instead of collected for ever
        if (rest.length > readMax) {
          line(rest);
          rest = Buffer.alloc(0);
        }
      }
      if (last) {
        line(rest);
        rest = Buffer.alloc(0);
      }
    },
    count: () => ({ ...count }),
  };
}

/** Whether a line has the required core: an object that names the experiment and what was tried. */
function isIteration(text: string): boolean {
  const value = parsedJson(text);
  if (!isTable(value)) return false;
  const { id, hypothesis, change } = value;
  const named = typeof id === "string" || typeof id === "number";
  return named && (typeof hypothesis === "string" || typeof change === "string");
}
