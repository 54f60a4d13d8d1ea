import assert from "node:assert/strict";
import { test } from "node:test";
import type { SnapshotIndex } from "@mlrb/formats/attempt/snapshot-index";
import { submissionAt } from "./submission-at.ts";

const one = (name: string, sinceStartMs: number, digest = name) => ({
  name,
  sinceStartMs,
  digest,
  files: 1,
  bytes: 1,
});
const index = (...snapshots: SnapshotIndex["snapshots"]): SnapshotIndex => ({
  formatVersion: 1,
  budgetMs: 1000,
  snapshots,
  dropped: [],
});
const ledger = (workingMs: number) => ({ workingMs, submission: { digest: "final" } });

test("a checkpoint's submission is the last snapshot at or before it", () => {
  const found = (share: number) =>
    submissionAt(share, index(one("0001", 100), one("0002", 250), one("0003", 251)), ledger(900));
  assert.deepEqual(found(0.05), { kind: "none" });
  assert.deepEqual(found(0.25), { kind: "snapshot", name: "0002" });
  assert.deepEqual(found(0.5), { kind: "snapshot", name: "0003" });
});

test("after the attempt's end a checkpoint's submission is the final one", () => {
  assert.deepEqual(submissionAt(0.5, index(one("0001", 100)), ledger(500)), { kind: "final" });
  assert.deepEqual(submissionAt(0.5, index(one("0001", 100)), ledger(501)), {
    kind: "snapshot",
    name: "0001",
  });
  assert.deepEqual(submissionAt(0.5, index(), ledger(0)), { kind: "final" }, "an agent that does nothing");
});
