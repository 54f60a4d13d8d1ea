import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { exampleCard } from "../testing/example-record.ts";
import { makeAttemptFolder } from "./attempt-folders.ts";
import { lostAttempt, lostBesideRecord } from "./lost-attempts.ts";

test("an attempt that was broken off with another key is named with its cost, also where its slot has a record", (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-lost-"));
  t.after(() => removeFolder(root));
  const attempts = join(root, ".mlrb/attempts");
  mkdirSync(join(root, ".mlrb/leases"), { recursive: true });
  const gives = [{ name: "trajectory", file: "trajectory.jsonl", kind: "file" as const }];
  const by = { host: hostname(), boot: "", pid: 1, started: "" };
  const card = { ...exampleCard, by, key: "a".repeat(64), secrets: ["KEY"], gives };
  const { path } = makeAttemptFolder(join(attempts, "running"), card);
  mkdirSync(join(path, "attempt-x/sandbox-y/workspace"), { recursive: true });
  writeFileSync(
    join(path, "out/trajectory.jsonl"),
    `${JSON.stringify({ ...exampleEvent("start"), kind: "llm" })}\n`,
  );
  const tokens = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };
  const spent = { calls: 1, failedTries: 0, uncounted: 0, ...tokens, dollars: 0.4, waitedMs: {} };
  writeFileSync(
    join(path, "spending.jsonl"),
    `${JSON.stringify({ formatVersion: 1, workingMs: 1, ...spent })}\n`,
  );
  const place = { attempts, root };
  const other = "b".repeat(64);
  const named = lostBesideRecord(card.slot, other, place);
  assert.deepEqual(named, lostAttempt(card.slot, other, place));
  assert.match(
    named!.cause,
    /it continues only with the inputs with which it began; what it had done for 0\.40 dollars/,
  );
  assert.equal(lostBesideRecord(card.slot, card.key, place), undefined, "a run continues it");
  assert.equal(lostBesideRecord({ ...card.slot, stage: "other" }, other, place), undefined);
});
