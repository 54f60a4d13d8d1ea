import assert from "node:assert/strict";
import { test } from "node:test";
import { type Standing, type TimedWork, timeLeft } from "./time-left.ts";

const one = { cpus: 1, memoryBytes: 0, gpus: 0 };
const two = { cpus: 2, memoryBytes: 8, gpus: 0 };
const waiting: Standing = { kind: "waiting" };
const ended: Standing = { kind: "ended" };

function work(tookMs: number | undefined, more: Partial<TimedWork> = {}): TimedWork {
  return { stage: "score", needs: [], collects: [], resources: one, tookMs, lazy: false, ...more };
}

function left(works: TimedWork[], standings: Standing[], capacity = two) {
  return timeLeft(works, { standings, capacity });
}

test("work that may run side by side is shared out over the CPUs", () => {
  const works = [work(10), work(20), work(30), work(40)];
  assert.deepEqual(left(works, [waiting, waiting, waiting, waiting]), { ms: 50, untimed: 0 });
});

test("a chain takes as long as its parts, however many CPUs there are", () => {
  const works = [work(10), work(20, { needs: [0] }), work(30, { collects: [1] }), work(5)];
  const capacity = { cpus: 64, memoryBytes: 8, gpus: 0 };
  assert.deepEqual(left(works, [waiting, waiting, waiting, waiting], capacity), { ms: 60, untimed: 0 });
});

test("what has ended or was reused costs nothing, and what runs only its rest", () => {
  const works = [work(100), work(100), work(100)];
  assert.deepEqual(left(works, [ended, { kind: "running", forMs: 70 }, waiting]), { ms: 100, untimed: 0 });
  assert.deepEqual(left(works, [ended, { kind: "running", forMs: 70 }, ended]), { ms: 30, untimed: 0 });
});

test("one that runs for longer than ever is not expected to give time back", () => {
  assert.deepEqual(left([work(10), work(40)], [{ kind: "running", forMs: 500 }, waiting]), {
    ms: 40,
    untimed: 0,
  });
});

test("one that was never timed takes as long as its stage's others, those of this run before all", () => {
  const works = [work(10), work(30), work(undefined)];
  assert.equal(left(works, [ended, ended, waiting])?.ms, 20);
  assert.equal(left(works, [{ kind: "ended", tookMs: 50 }, ended, waiting])?.ms, 40);
});

test("what no duration is known of is counted and not guessed", () => {
  const works = [work(10), work(undefined, { stage: "report", collects: [0] })];
  assert.deepEqual(left(works, [waiting, waiting]), { ms: 10, untimed: 1 });
});

test("where nothing is known, or nothing is left, nothing is said", () => {
  assert.equal(left([work(undefined)], [waiting]), undefined);
  assert.equal(left([work(10), work(undefined, { stage: "report" })], [ended, waiting]), undefined);
  assert.equal(left([work(10)], [ended]), undefined);
  assert.equal(left([], []), undefined);
});

test("a scarce thing decides: four stages with a GPU each take turns at the only one", () => {
  const gpu = { cpus: 1, memoryBytes: 0, gpus: 1 };
  const works = [1, 2, 3, 4].map(() => work(10, { resources: gpu }));
  const capacity = { cpus: 64, memoryBytes: 8, gpus: 1 };
  assert.equal(left(works, [waiting, waiting, waiting, waiting], capacity)?.ms, 40);
});

test("an environment that nothing has asked for yet costs nothing, and holds nobody up", () => {
  const works = [work(9000, { stage: "environment", lazy: true }), work(10, { environment: 0 })];
  assert.equal(left(works, [waiting, waiting])?.ms, 10);
  assert.equal(left(works, [{ kind: "running", forMs: 1000 }, waiting])?.ms, 8010);
});
