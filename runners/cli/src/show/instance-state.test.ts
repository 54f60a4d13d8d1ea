import assert from "node:assert/strict";
import { test } from "node:test";
import { countStates, instanceState, type Known } from "./instance-state.ts";

const runs = { action: "run", certain: true } as const;
const failed = { kind: "failed", cause: "exit-code", detail: "" } as const;

function state(known: Partial<Known>): string {
  return instanceState({ preview: runs, running: false, succeeded: true, ...known });
}

test("an instance that would be reused is up to date, even if its last run failed", () => {
  assert.equal(state({ preview: { action: "reuse", certain: true }, lastEnd: failed }), "upToDate");
});

test("an instance that runs now is running, whatever it was before", () => {
  assert.equal(state({ running: true, lastEnd: failed, succeeded: false }), "running");
});

test("failed has precedence over an earlier result", () => {
  assert.equal(state({ lastEnd: failed }), "failed");
  assert.equal(state({ lastEnd: { kind: "succeeded" } }), "stale");
});

test("an instance without a result here has never run, even if an input runs first", () => {
  assert.equal(state({ succeeded: false }), "neverRun");
  assert.equal(state({ succeeded: false, preview: { action: "run", certain: false } }), "neverRun");
});

test("an instance whose input runs first is uncertain", () => {
  assert.equal(state({ preview: { action: "run", certain: false } }), "uncertain");
});

test("an attempt with a record of other inputs is stale, even if it has not succeeded in this profile", () => {
  assert.equal(state({ preview: { action: "stale", certain: true }, succeeded: false }), "stale");
});

test("counts contain every state, also empty ones", () => {
  assert.deepEqual(countStates(["stale", "failed", "stale"]), {
    upToDate: 0,
    running: 0,
    failed: 1,
    stale: 2,
    uncertain: 0,
    neverRun: 0,
  });
});
