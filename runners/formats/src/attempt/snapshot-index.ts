// The format of index.json next to the snapshots of an attempt's submission, in the order in which they were taken.
import { anyText, count, listOf, openObject, type TypeOf, wholeObject } from "../schema.ts";

const moment = { sinceStartMs: { type: "number", minimum: 0 }, digest: anyText } as const;

const kept = wholeObject({
  name: { type: "string", pattern: "^\\d+$", description: "its folder, next to the index" },
  ...moment,
  files: count,
  bytes: count,
});

export const snapshotIndex = openObject(
  {
    formatVersion: { const: 1 },
    budgetMs: { type: "number", minimum: 0 },
    snapshots: listOf(kept),
    dropped: {
      ...listOf(wholeObject(moment)),
      description: "snapshots that were removed for lack of space; absent in older records",
    },
  },
  ["formatVersion", "budgetMs", "snapshots"],
);
export type SnapshotIndex = TypeOf<typeof snapshotIndex>;
