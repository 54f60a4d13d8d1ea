// What an attempt has spent, by the file that its meter appends to while it runs (agents/attempt-meter). The
// bill of an attempt that never wrote its ledger.
import { readFileSync } from "node:fs";
import type { ModelSpending } from "./rules/ledger.ts";

/** `workingMs`: as long as it had worked then. */
export type LastSpending = ModelSpending & {
  formatVersion: 1;
  workingMs: number;
  /** null: no price is known for some of the calls. */
  dollars: number | null;
  waitedMs: Record<string, number>;
  /** Calls that were sent and not charged yet, and what they can cost at most; absent where there were none. */
  inFlight?: { calls: number; dollars: number };
};

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
    try {
      const value = JSON.parse(line) as Partial<LastSpending> | null;
      if (value?.formatVersion === 1) return value as LastSpending;
    } catch {}
  }
  return undefined;
}
