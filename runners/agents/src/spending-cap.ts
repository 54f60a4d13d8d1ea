// The hard limit of dollars of a whole run (`--max-cost`). Its attempts run under supervisors of their own, in
// parallel and longer than the run: they share a file to which each appends what a call cost or can have cost at
// most, and before a call each reads what all of them have appended. kit/purse.ts begins the file.
import { appendFileSync, closeSync, fstatSync, openSync, readSync } from "node:fs";
import { canonicalJson } from "@mlrb/kit/json-file";

export type SpendingCap = {
  /** Of the whole run; null where the file sets no limit. */
  leftDollars(): number;
  maxDollars(): number;
  add(dollars: number): void;
};

/** Throws where the file cannot be read: without it nothing may be spent. */
export function openCap(path: string): SpendingCap {
  let offset = 0;
  let rest = "";
  let spent = 0;
  let max = 0;
  const read = () => {
    const file = openSync(path, "r");
    try {
      const { size } = fstatSync(file);
      if (size > offset) {
        const bytes = Buffer.alloc(size - offset);
        offset += readSync(file, bytes, 0, bytes.length, offset);
        const lines = (rest + bytes.toString("utf8")).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) take(line);
      }
    } finally {
      closeSync(file);
    }
  };
  const take = (line: string) => {
    try {
      const { maxDollars, dollars } = JSON.parse(line) as Record<string, unknown>;
      if (typeof maxDollars === "number") max = maxDollars;
      if (typeof dollars === "number" && dollars > 0) spent += dollars;
    } catch {} // half a line of a supervisor that was killed
  };
  return {
    leftDollars() {
      read();
      return max - spent;
    },
    maxDollars: () => max,
    add(dollars) {
      // a line of its own, also behind half a line that a killed supervisor left
      if (dollars > 0) appendFileSync(path, `\n${canonicalJson({ dollars })}\n`, { flush: true });
    },
  };
}
