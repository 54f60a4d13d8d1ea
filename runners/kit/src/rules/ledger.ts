// Reads an attempt's ledger. Hostile code may have written it, so a malformed ledger becomes a reason.
import { constants, fstatSync, readSync } from "node:fs";
import { attemptLedger, type Ledger, ledgerCost, noAttempt } from "@mlrb/formats/attempt/ledger";
import { checkFormat } from "@mlrb/formats/read-format";
import type { TypeOf } from "@mlrb/formats/schema";
import { readingLimits } from "../admission/reading-limits.ts";
import { openedFile } from "../files/opened-file.ts";

const bytesMax = readingLimits.ledgerBytes.max;

/** A string is the reason why there is none. */
export function readLedger(path: string): Ledger | string {
  const value = ledgerJson(path);
  if (typeof value === "string") return value;
  const none = checkFormat(noAttempt, value);
  if (none.kind === "ok") return none.value.none.slice(0, 200);
  const reading = checkFormat(attemptLedger, value);
  if (reading.kind === "unreadable") return `the ledger does not follow its format: ${reading.cause}`;
  return reading.value;
}

/** The cost in a ledger, also in one with only the cost. A string is the reason why there is none. */
export function readLedgerCost(path: string): TypeOf<typeof ledgerCost> | string {
  const value = ledgerJson(path);
  if (typeof value === "string") return value;
  const reading = checkFormat(ledgerCost, value);
  return reading.kind === "ok" ? reading.value : `the ledger does not follow its format: ${reading.cause}`;
}

function ledgerJson(path: string): object | string {
  try {
    // not blocking, or a pipe in the file's place would stop the reader
    using file = openedFile(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { size } = fstatSync(file.descriptor);
    if (size >= bytesMax) return "the ledger is larger than 1 MiB";
    const buffer = Buffer.alloc(size);
    const length = readSync(file.descriptor, buffer, 0, size, 0);
    const value: unknown = JSON.parse(buffer.toString("utf8", 0, length));
    return typeof value === "object" && value !== null ? value : "the ledger is not an object";
  } catch (error) {
    return `the ledger cannot be read: ${error instanceof SyntaxError ? "not JSON" : (error as NodeJS.ErrnoException).code}`;
  }
}
