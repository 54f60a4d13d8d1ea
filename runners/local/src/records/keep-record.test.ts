import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeAttemptFolder } from "../attempts/attempt-folders.ts";
import { exampleCard, exampleEnd } from "../testing/example-record.ts";
import { home } from "../testing/small-plan.ts";
import { keepRecord } from "./keep-record.ts";

test("the duration in a record is that of all supervisors and jobs of its attempt", async (t) => {
  const at = home(t);
  const workspace = at.open();
  mkdirSync(workspace.state.running, { recursive: true });
  const { path } = makeAttemptFolder(workspace.state.running, exampleCard);
  const tokens = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
  const spent = { calls: 0, failedTries: 0, uncounted: 0, ...tokens, dollars: 0, waitedMs: {} };
  const line = { formatVersion: 1, workingMs: 86_400_000, sinceStartMs: 86_400_000, ...spent };
  writeFileSync(join(path, "spending.jsonl"), `${JSON.stringify(line)}\n`);
  writeFileSync(join(path, "log"), "");
  const end = { ...exampleEnd, durationMs: 14_400_000 };
  const kept = await keepRecord(
    { path, card: exampleCard, end, log: join(path, "log"), isHeld: () => true },
    workspace,
  );
  assert.ok(kept.kind === "kept");
  assert.equal(kept.record.record.ran.durationMs, 86_400_000);
  assert.equal(kept.durationMs, 86_400_000);
});
