// Reads an attempt's spending from the file that its meter appends to (agents/attempt/attempt-meter). It is the
// bill of an attempt that never wrote its ledger.
import { readFileSync } from "node:fs";
import { type LastSpending, lastSpending as lineFormat } from "@mlrb/formats/attempt/last-spending";
import { readFormat } from "@mlrb/formats/read-format";
import { quiet } from "../processes/process-table.ts";

/** The number of calls that were sent, with any result. */
export function callsOf({ calls, failedTries, inFlight }: LastSpending): number {
  return calls + failedTries + (inFlight?.calls ?? 0);
}

/** The last readable line of the meter; undefined if there is none. */
export function lastSpending(path: string): LastSpending | undefined {
  const lines = (quiet(() => readFileSync(path, "utf8")) ?? "").split("\n");
  // the last line may be torn
  for (const line of lines.reverse()) {
    const reading = readFormat(lineFormat, line);
    if (reading.kind === "ok") return reading.value;
  }
  return undefined;
}
