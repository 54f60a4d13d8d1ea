import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import { exampleCard } from "../testing/example-record.ts";
import { costByLedger, heldMs, spentBy } from "./attempt-cost.ts";

function spendingLine(sinceStartMs: number): string {
  const tokens = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
  const spent = { calls: 0, failedTries: 0, uncounted: 0, ...tokens, dollars: 0, waitedMs: {} };
  return `${JSON.stringify({ formatVersion: 1, workingMs: sinceStartMs, sinceStartMs, ...spent })}\n`;
}

test("without a ledger, GPUs count for the time of all supervisors, also if the last one failed at once", (t) => {
  const path = mkdtempSync(join(tmpdir(), "mlrb-cost-"));
  t.after(() => rmSync(path, { recursive: true }));
  writeFileSync(join(path, "spending.jsonl"), spendingLine(7_200_000));
  const card = { ...exampleCard, gpus: 2 };
  assert.equal(spentBy({ path, card }, 1000).cost.gpuHours, 4);
  assert.equal(spentBy({ path, card }, 9_000_000).cost.gpuHours, 5);
});

test("nothing is paid for a replay, whatever its recording cost", (t) => {
  const path = mkdtempSync(join(tmpdir(), "mlrb-cost-"));
  t.after(() => rmSync(path, { recursive: true }));
  const file = join(path, "ledger.json");
  const ledger = { ...exampleLedger(), dollars: 12 };
  writeFileSync(file, JSON.stringify(ledger));
  assert.equal(costByLedger({ gpus: 0 }, 1000, file).dollars, 12);
  writeFileSync(file, JSON.stringify({ ...ledger, replay: { recording: "authored", tools: "live" } }));
  assert.equal(costByLedger({ gpus: 0 }, 1000, file).dollars, 0);
});

test("an attempt whose job waits in a queue has no cost, and one that was continued only the time of its supervisors", (t) => {
  const path = mkdtempSync(join(tmpdir(), "mlrb-cost-"));
  t.after(() => rmSync(path, { recursive: true }));
  const startedAt = new Date(Date.now() - 36_000_000).toISOString();
  const card = { ...exampleCard, startedAt, gpus: 8, executor: "slurm" };
  mkdirSync(join(path, "jobs/1"), { recursive: true });
  for (const file of ["log", "supervisor.json", "jobs/1/job.json"]) writeFileSync(join(path, file), "{}");
  assert.equal(heldMs({ path, card }), 0);
  assert.equal(spentBy({ path, card }, heldMs({ path, card })).cost.gpuHours, 0);
  const claim = { kind: "begun", formatVersion: 1, id: "7", host: "n1", node: "n1" };
  writeFileSync(join(path, "jobs/1/claim.json"), JSON.stringify(claim));
  assert.ok(heldMs({ path, card }) < 60_000, "the time in the queue is not the job's");
  const ahead = new Date(Date.now() + 3_600_000);
  utimesSync(join(path, "jobs/1/claim.json"), ahead, ahead);
  assert.equal(Math.round(heldMs({ path, card }) / 60_000), 60);
  writeFileSync(join(path, "spending.jsonl"), spendingLine(1_800_000));
  assert.equal(heldMs({ path, card }), 1_800_000);
  const here = { path, card: { ...card, executor: "local" } };
  assert.equal(heldMs(here), 1_800_000, "the host was down meanwhile");
  assert.equal(heldMs(here, 2_000_000), 2_000_000);
});
