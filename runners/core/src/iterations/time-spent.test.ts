import assert from "node:assert/strict";
import { test } from "node:test";
import { TimeSpentReader } from "./time-spent.ts";

type Event = { event: string; durationMs?: number; executed?: boolean };

/** `at`: when the event was seen, in ms since the start. */
function timeSpent(...events: [at: number, event: Event][]) {
  const reader = new TimeSpentReader();
  for (const [sinceStartMs, event] of events)
    reader.take({ event, sinceStartMs, index: 0, time: "", result: undefined } as never);
  return reader.end();
}

const call = (durationMs: number): Event => ({ event: "model-call", durationMs });
const run = (durationMs: number): Event => ({ event: "tool-result", durationMs, executed: true });
const wait = (durationMs: number): Event => ({ event: "wait", durationMs });

test("model calls, programs and waits one after another are added up", () => {
  assert.deepEqual(timeSpent([10, call(10)], [40, run(30)], [45, wait(5)], [60, call(10)], [90, run(20)]), {
    waitMs: 5,
    modelMs: 20,
    programMs: 50,
  });
});

test("time of two workers at once counts once: a model call before a program, a wait before both", () => {
  assert.deepEqual(timeSpent([10, call(10)], [12, call(10)]), { waitMs: 0, modelMs: 12, programMs: 0 });
  assert.deepEqual(timeSpent([50, call(20)], [100, run(100)]), { waitMs: 0, modelMs: 20, programMs: 80 });
  assert.deepEqual(timeSpent([60, wait(20)], [70, call(70)]), { waitMs: 20, modelMs: 50, programMs: 0 });
});

test("a program that is the whole agent ran outside of its model calls", () => {
  const events: [number, Event][] = [
    [5, { event: "exec" }],
    [50, call(15)],
    [105, { event: "exec-end" }],
  ];
  assert.deepEqual(timeSpent(...events), { waitMs: 0, modelMs: 15, programMs: 85 });
});

test("a tool of the harness is no program, and a duration never reaches before the start", () => {
  assert.deepEqual(timeSpent([10, { ...run(10), executed: false }], [20, call(500)]), {
    waitMs: 0,
    modelMs: 20,
    programMs: 0,
  });
});

test("the parts of many thousand calls are exact, and never more than the attempt's time", () => {
  const events = Array.from({ length: 20_000 }, (_, at): [number, Event] =>
    at % 2 === 0 ? [at * 10, call(4)] : [at * 10, run(6)],
  );
  assert.deepEqual(timeSpent(...events), { waitMs: 0, modelMs: 9_999 * 4, programMs: 10_000 * 6 });
});
