// The format of index.json beside the snapshots of an attempt's submission, in the order in which they were taken.
import { anyText, count, listOf, openObject, type TypeOf, wholeObject } from "../schema.ts";

const moment = { sinceStartMs: { type: "number", minimum: 0 }, digest: anyText } as const;

const kept = wholeObject({
  name: { type: "string", pattern: "^\\d+$", description: "its folder, beside the index" },
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
      description: "those that went for want of room; absent in records of before it was told",
    },
  },
  ["formatVersion", "budgetMs", "snapshots"],
);
export type SnapshotIndex = TypeOf<typeof snapshotIndex>;
