// The format of a line of spending.jsonl: what an attempt had spent when its meter wrote the line.

import { count, nullable, openObject, type TypeOf } from "../schema.ts";
import { modelSpending, waitedMs } from "./ledger.ts";

const amount = { type: "number", minimum: 0 } as const;

export const lastSpending = openObject(
  {
    ...modelSpending.properties,
    formatVersion: { const: 1 },
    workingMs: { type: "number", description: "as long as it had worked then" },
    dollars: { ...nullable(amount), description: "null: no price is known for some of the calls" },
    waitedMs,
    inFlight: {
      ...openObject({ calls: count, dollars: amount }, ["calls", "dollars"]),
      description: "calls that were sent and not charged yet, and what they can cost at most",
    },
  },
  [...modelSpending.required, "formatVersion", "workingMs", "dollars", "waitedMs"],
);

export type LastSpending = TypeOf<typeof lastSpending>;
