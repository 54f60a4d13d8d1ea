// The hard limit of dollars of a whole run (`--max-cost`). Its attempts run under supervisors of their own, in
// parallel and longer than the run: they share a file to which each appends what its calls cost or can have cost, and
// read it before a call. kit/attempts/purse.ts begins the file.
// Each attempt may pass the cap by one call: the dearest of those that it has in flight. What the others of them can
// cost at most counts from before they are sent, or many calls at once of many attempts would pass it together.
import { appendFileSync, closeSync, fstatSync, openSync, readSync } from "node:fs";
import { spendingCapLine } from "@mlrb/formats/attempt/spending-cap";
import { readFormat } from "@mlrb/formats/read-format";
import { canonicalJson } from "@mlrb/kit/json-file";

export type SpendingCap = {
  /** Of the whole run, by what its calls have cost; infinite where nothing caps it. */
  leftDollars(): number;
  /** The same without what all attempts hold. */
  freeDollars(): number;
  /** undefined: none. */
  maxDollars(): number | undefined;
  /** What this attempt's calls in flight can cost at most, without the dearest of them. */
  hold(dollars: number): void;
  add(dollars: number): void;
};

/** As the attempt of this name sees it. Throws where the file cannot be read: without it nothing may be spent. */
export function openCap(path: string, attempt: string): SpendingCap {
  let offset = 0;
  let rest = "";
  let spent = 0;
  let max = 0;
  const held = new Map<string, { dollars: number; pid: number }>();
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
    const reading = readFormat(spendingCapLine, line);
    if (reading.kind === "unreadable") return; // half a line of a supervisor that was killed
    const { value } = reading;
    if ("maxDollars" in value) max = value.maxDollars;
    else if ("dollars" in value) spent += value.dollars;
    else held.set(value.attempt, { dollars: value.held, pid: value.pid });
  };
  // a line of its own, also behind half a line that a killed supervisor left
  const append = (line: object, flush: boolean) =>
    appendFileSync(path, `\n${canonicalJson(line)}\n`, { flush });
  let holding = 0;
  /** `dead`: of attempts that were killed, whose last calls may be billed. */
  const holds = ({ dead }: { dead: boolean }) =>
    [...held.values()].reduce(
      (sum, { dollars, pid }) => (dollars > 0 && (!dead || !isAlive(pid)) ? sum + dollars : sum),
      0,
    );
  return {
    leftDollars() {
      read();
      return max - spent - holds({ dead: true });
    },
    freeDollars() {
      read();
      return max - spent - holds({ dead: false });
    },
    maxDollars() {
      read();
      return max;
    },
    hold(dollars) {
      if (dollars === holding) return;
      append({ attempt, held: dollars, pid: process.pid }, false);
      holding = dollars;
    },
    add(dollars) {
      if (dollars > 0) append({ dollars }, true);
    },
  };
}

/** Attempts of one cap run on one host. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
