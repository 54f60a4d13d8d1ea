// The format of a line of spending.jsonl: an attempt's spending when its meter wrote the line.

import * as t from "../schema.ts";
import { modelSpending, waitedMs } from "./ledger.ts";

export const lastSpending = t.wholeExcept(
  ["estimated", "reached", "served", "inFlight", "sinceStartMs", "counted"],
  {
    ...modelSpending.properties,
    formatVersion: { const: 1 },
    workingMs: t.about(t.number, "working time so far"),
    sinceStartMs: t.about(t.amount, "ms since the start"),
    counted: t.about(
      t.wholeObject({ tokens: t.amount, dollars: t.amount }),
      "what limits are checked against",
    ),
    dollars: t.about(t.nullable(t.amount), "null: some calls have no known price"),
    waitedMs,
    inFlight: t.about(
      t.wholeExcept(["tokens"], { calls: t.count, dollars: t.amount, tokens: t.amount }),
      "calls that were sent and not yet charged, with their maximum cost",
    ),
  },
);

export type LastSpending = t.TypeOf<typeof lastSpending>;
