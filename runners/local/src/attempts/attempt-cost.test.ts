import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { exampleCard } from "../testing/example-record.ts";
import { spentBy } from "./attempt-cost.ts";

test("without a ledger, GPUs count for the time of all supervisors, also if the last one failed at once", (t) => {
  const path = mkdtempSync(join(tmpdir(), "mlrb-cost-"));
  t.after(() => rmSync(path, { recursive: true }));
  const tokens = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
  const spent = { calls: 0, failedTries: 0, uncounted: 0, ...tokens, dollars: 0, waitedMs: {} };
  const line = { formatVersion: 1, workingMs: 7_200_000, sinceStartMs: 7_200_000, ...spent };
  writeFileSync(join(path, "spending.jsonl"), `${JSON.stringify(line)}\n`);
  const card = { ...exampleCard, gpus: 2 };
  assert.equal(spentBy({ path, card }, 1000).cost.gpuHours, 4);
  assert.equal(spentBy({ path, card }, 9_000_000).cost.gpuHours, 5);
});
