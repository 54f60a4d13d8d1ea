import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { callsOf, lastSpending } from "./last-spending.ts";

const spending = (calls: number, more = {}) => ({
  ...{ formatVersion: 1, workingMs: 1, dollars: null, waitedMs: { provider: 5 }, calls, failedTries: 1 },
  ...{ uncounted: 0, inputTokens: 2, outputTokens: 3, cachedInputTokens: 0, reasoningTokens: 0 },
  ...more,
});

test("the last valid line counts: torn and malformed lines are skipped", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "spending-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "spending.jsonl");
  const read = (...lines: (object | string)[]) => {
    writeFileSync(path, lines.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("\n"));
    return lastSpending(path);
  };
  const inFlight = { calls: 2, dollars: 0.5 };
  const estimated = { calls: 1, answers: 0, inputTokens: 9.5, outputTokens: 1, dollars: 0.1 };
  assert.equal(callsOf(read(spending(1), spending(2, { inFlight, estimated }), '{"calls":')!), 5);
  assert.equal(read(spending(1), spending(2, { inputTokens: "many" }), spending(3, { calls: -1 }))?.calls, 1);
  assert.equal(read("", "[]", "null", spending(4, { formatVersion: 2 })), undefined);
  assert.equal(lastSpending(join(folder, "none")), undefined);
});
