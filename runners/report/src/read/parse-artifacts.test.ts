import assert from "node:assert/strict";
import { test } from "node:test";
import type { Metric } from "@mlrb/formats/report";
import { parseScore } from "./parse-artifacts.ts";

const header = { formatVersion: 1, scorer: "proofs", version: 1, unit: "share", direction: "higher" };
const metric = { name: "proofs", unit: "share", direction: "higher", range: [0, 1] } as unknown as Metric;
const parsed = (fields: object) => parseScore(JSON.stringify({ ...header, ...fields }), metric);

test("a score without a program to measure with is not measured, with the scorer's reason", () => {
  assert.deepEqual(parsed({ kind: "not-measured", reason: "no Lean 3" }), {
    kind: "ok",
    value: { kind: "not-measured", cause: "no Lean 3" },
  });
});

test("a score that is not measured carries no number, even if its file has one", () => {
  const reading = parsed({ kind: "not-measured", reason: "no Lean 3", value: 0 });
  assert.ok(reading.kind === "ok" && !("value" in reading.value), JSON.stringify(reading));
});

test("a value outside the metric's range is unreadable", () => {
  const scored = { kind: "scored", value: 2, standardError: 0, items: 1, groups: {}, extra: {} };
  assert.deepEqual(parsed(scored), { kind: "unreadable", cause: "value 2 is above the maximum 1" });
});
