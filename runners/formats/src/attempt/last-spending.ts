// The format of a line of spending.jsonl: an attempt's spending when its meter wrote the line.

import { amount, count, nullable, type TypeOf, wholeExcept, wholeObject } from "../schema.ts";
import { modelSpending, waitedMs } from "./ledger.ts";

export const lastSpending = wholeExcept(
  ["estimated", "reached", "served", "inFlight", "sinceStartMs", "counted"],
  {
    ...modelSpending.properties,
    formatVersion: { const: 1 },
    workingMs: { type: "number", description: "working time so far" },
    sinceStartMs: { ...amount, description: "ms since the start" },
    counted: {
      ...wholeObject({ tokens: amount, dollars: amount }),
      description: "what limits are checked against",
    },
    dollars: { ...nullable(amount), description: "null: some calls have no known price" },
    waitedMs,
    inFlight: {
      ...wholeExcept(["tokens"], { calls: count, dollars: amount, tokens: amount }),
      description: "calls that were sent and not yet charged, with their maximum cost",
    },
  },
);

export type LastSpending = TypeOf<typeof lastSpending>;
