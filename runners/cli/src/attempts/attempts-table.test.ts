import assert from "node:assert/strict";
import { test } from "node:test";
import { type AttemptRow, attemptsTable } from "./attempts-table.ts";

const row: AttemptRow = {
  digest: "f3686392cd95ab",
  startedAt: "2026-01-31T10:00:00.123Z",
  durationMs: 76_000,
  ended: "finished",
  usedModel: false,
  tokens: null,
  gpuHours: 0,
  dollars: null,
  slot: "hello (smoke)",
  stage: "attempt[task=baby-lm,seed=1]",
  standing: "",
};
const paid: AttemptRow = {
  ...row,
  digest: "0123456789abcd",
  durationMs: 86_400_000,
  ended: "agent-error",
  usedModel: true,
  tokens: 1_234_567,
  gpuHours: 24,
  dollars: 43.1,
  slot: "full-benchmark (paper)",
  standing: "disqualified",
};

test("a header names the columns, and each row has how it ended and its cost", () => {
  assert.deepEqual(attemptsTable([row, paid], 300), [
    "record        started (UTC)         time  ended         tokens  GPU hours  dollars  pipeline                attempt",
    "f3686392cd95  2026-01-31 10:00  1 m 16 s  finished           -        0.0        -  hello (smoke)           attempt[task=baby-lm,seed=1]",
    "0123456789ab  2026-01-31 10:00  24 h 0 m  agent-error  1234567       24.0    43.10  full-benchmark (paper)  attempt[task=baby-lm,seed=1]  disqualified",
  ]);
});

test("a narrow terminal still shows the cost", () => {
  assert.deepEqual(attemptsTable([paid], 80), [
    "record        dollars  pipeline                attempt",
    "0123456789ab    43.10  full-benchmark (paper)  attempt[task=baby-lm,seed=1]  disqualified",
  ]);
});

test("an unknown cost of a model is unknown, not absent; without rows there is no header", () => {
  assert.match(attemptsTable([{ ...paid, dollars: null }], 80)[1]!, /^0123456789ab {2}unknown {2}full/);
  assert.deepEqual(attemptsTable([], 80), []);
});
