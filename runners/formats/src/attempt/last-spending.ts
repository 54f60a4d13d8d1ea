// The format of a line of spending.jsonl: an attempt's spending when its meter wrote the line.

import { count, nullable, openObject, type TypeOf } from "../schema.ts";
import { modelSpending, waitedMs } from "./ledger.ts";

const amount = { type: "number", minimum: 0 } as const;

export const lastSpending = openObject(
  {
    ...modelSpending.properties,
    formatVersion: { const: 1 },
    workingMs: { type: "number", description: "working time so far" },
    dollars: { ...nullable(amount), description: "null: some calls have no known price" },
    waitedMs,
    inFlight: {
      ...openObject({ calls: count, dollars: amount }, ["calls", "dollars"]),
      description: "calls that were sent and not yet charged, with their maximum cost",
    },
  },
  [...modelSpending.required, "formatVersion", "workingMs", "dollars", "waitedMs"],
);

export type LastSpending = TypeOf<typeof lastSpending>;
