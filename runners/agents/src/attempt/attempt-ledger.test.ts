import assert from "node:assert/strict";
import { test } from "node:test";
import type { ScaffoldEnd } from "../scaffold/scaffold.ts";
import { attemptLedger, endedAs } from "./attempt-ledger.ts";

test("the ledger records whether the model submitted, gave up, refused or was silent", () => {
  const ended = (end: ScaffoldEnd) => endedAs({ kind: "scaffold", end });
  assert.equal(ended({ kind: "submitted" }), "submitted");
  assert.equal(ended({ kind: "stopped", detail: "" }), "gave-up");
  assert.equal(ended({ kind: "silent", detail: "" }), "silent");
  assert.equal(ended({ kind: "refused", detail: "" }), "refusal");
  assert.equal(endedAs({ kind: "exited", code: 0 }), "finished", "of a program no more is known");
});

const spending = {
  ...{ calls: 0, failedTries: 0, uncounted: 0, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
  ...{ reasoningTokens: 0, dollars: 0, waitedMs: {} },
  estimated: { calls: 0, answers: 0, inputTokens: 0, outputTokens: 0, dollars: 0 },
};
const final = { digest: "ab".repeat(32), files: 0, bytes: 0, leftOut: [], overLimits: null };
const facts = {
  ...{ budget: { timeMs: 1 }, wallMs: 1, workingMs: 1, spending, final, gpus: 1, gpuBusyMs: null },
  ...{ gpuMemoryPeakMiB: 7, trajectory: { lines: 1, head: "0".repeat(64) } },
  ending: { kind: "exited", code: 0 },
} as unknown as Parameters<typeof attemptLedger>[0];

test("the ledger of a resumed attempt gives no peak of GPU memory: the one before the restart is unknown", () => {
  assert.equal(attemptLedger(facts).gpuMemoryPeakMiB, 7);
  assert.equal(attemptLedger({ ...facts, resumed: 1 }).gpuMemoryPeakMiB, undefined);
});

test("an attempt that called no model cost 0 dollars, unless it had a network", () => {
  assert.equal(attemptLedger(facts).dollars, 0);
  assert.equal(attemptLedger({ ...facts, network: true }).dollars, null);
  const uncounted = { ...facts.spending, calls: 1, estimated: { ...facts.spending.estimated, answers: 1 } };
  assert.equal(attemptLedger({ ...facts, spending: uncounted }).dollars, null);
});

test("working hours at a stated price are recorded apart from the dollars of calls", () => {
  const budget = { timeMs: 1, dollars: 9, machineDollarsPerHour: 5 };
  const ledger = attemptLedger({ ...facts, budget, workingMs: 1_800_000 });
  assert.deepEqual([ledger.machineDollars, ledger.dollars], [2.5, 0]);
  assert.equal("machineDollars" in attemptLedger(facts), false);
});
