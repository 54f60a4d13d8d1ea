// The format of index.json next to the snapshots of an attempt's submission, in the order in which they were
// taken.
import * as t from "../schema.ts";

const moment = { sinceStartMs: t.amount, digest: t.anyText } as const;

const kept = t.wholeObject({
  name: t.about({ type: "string", pattern: "^\\d+$" }, "its folder, next to the index"),
  ...moment,
  files: t.count,
  bytes: t.count,
});

export const snapshotIndex = t.wholeObject({
  formatVersion: { const: 1 },
  budgetMs: t.amount,
  snapshots: t.listOf(kept),
  dropped: t.about(t.listOf(t.wholeObject(moment)), "snapshots that were removed for lack of space"),
});
export type SnapshotIndex = t.TypeOf<typeof snapshotIndex>;
