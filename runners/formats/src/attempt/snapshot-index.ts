// The format of index.json next to the snapshots of an attempt's submission, in the order in which they were taken.
import { amount, anyText, count, listOf, type TypeOf, wholeObject } from "../schema.ts";

const moment = { sinceStartMs: amount, digest: anyText } as const;

const kept = wholeObject({
  name: { type: "string", pattern: "^\\d+$", description: "its folder, next to the index" },
  ...moment,
  files: count,
  bytes: count,
});

export const snapshotIndex = wholeObject({
  formatVersion: { const: 1 },
  budgetMs: amount,
  snapshots: listOf(kept),
  dropped: {
    ...listOf(wholeObject(moment)),
    description: "snapshots that were removed for lack of space",
  },
});
export type SnapshotIndex = TypeOf<typeof snapshotIndex>;
