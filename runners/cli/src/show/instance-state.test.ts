import assert from "node:assert/strict";
import { test } from "node:test";
import { countStates, instanceState, type Known } from "./instance-state.ts";

const runs = { action: "run", certain: true } as const;
const failed = { kind: "failed", cause: "exit-code", detail: "" } as const;

function state(known: Partial<Known>): string {
  return instanceState({ preview: runs, running: false, succeeded: true, ...known });
}

test("what would be reused is up to date, though it failed when it last ran with something else", () => {
  assert.equal(state({ preview: { action: "reuse", certain: true }, lastEnd: failed }), "upToDate");
});

test("what runs now is running, whatever it was before", () => {
  assert.equal(state({ running: true, lastEnd: failed, succeeded: false }), "running");
});

test("a failure is told before the result that it had earlier", () => {
  assert.equal(state({ lastEnd: failed }), "failed");
  assert.equal(state({ lastEnd: { kind: "succeeded" } }), "stale");
});

test("what has no result here has never run, also where something before it runs first", () => {
  assert.equal(state({ succeeded: false }), "neverRun");
  assert.equal(state({ succeeded: false, preview: { action: "run", certain: false } }), "neverRun");
});

test("what waits for something that runs first is uncertain, since that may give the same again", () => {
  assert.equal(state({ preview: { action: "run", certain: false } }), "uncertain");
});

test("an attempt with a record of something else is stale, also where this profile has no success of it", () => {
  assert.equal(state({ preview: { action: "stale", certain: true }, succeeded: false }), "stale");
});

test("counts name every state, also those that nothing is in", () => {
  assert.deepEqual(countStates(["stale", "failed", "stale"]), {
    upToDate: 0,
    running: 0,
    failed: 1,
    stale: 2,
    uncertain: 0,
    neverRun: 0,
  });
});
