// What an attempt has spent, by the file that its meter appends to while it runs (agents/attempt/attempt-meter). The
// bill of an attempt that never wrote its ledger.
import { readFileSync } from "node:fs";
import { type LastSpending, lastSpending as lineFormat } from "@mlrb/formats/attempt/last-spending";
import { readFormat } from "@mlrb/formats/read-format";

/** Calls that were sent, whatever became of them. */
export function callsOf({ calls, failedTries, inFlight }: LastSpending): number {
  return calls + failedTries + (inFlight?.calls ?? 0);
}

/** What an attempt had spent by what its meter wrote last; undefined where it wrote nothing that can be read. */
export function lastSpending(path: string): LastSpending | undefined {
  let lines: string[];
  try {
    lines = readFileSync(path, "utf8").split("\n");
  } catch {
    return undefined;
  }
  // the last may be half a line: the one before it was whole
  for (const line of lines.reverse()) {
    const reading = readFormat(lineFormat, line);
    if (reading.kind === "ok") return reading.value;
  }
  return undefined;
}
