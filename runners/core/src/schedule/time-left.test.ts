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

test("parallel work is divided by the number of CPUs", () => {
  const works = [work(10), work(20), work(30), work(40)];
  assert.deepEqual(left(works, [waiting, waiting, waiting, waiting]), { ms: 50, untimed: 0 });
});

test("a chain takes the sum of its parts on any number of CPUs", () => {
  const works = [work(10), work(20, { needs: [0] }), work(30, { collects: [1] }), work(5)];
  const capacity = { cpus: 64, memoryBytes: 8, gpus: 0 };
  assert.deepEqual(left(works, [waiting, waiting, waiting, waiting], capacity), { ms: 60, untimed: 0 });
});

test("ended or reused instances count 0, and running ones their rest", () => {
  const works = [work(100), work(100), work(100)];
  assert.deepEqual(left(works, [ended, { kind: "running", forMs: 70 }, waiting]), { ms: 100, untimed: 0 });
  assert.deepEqual(left(works, [ended, { kind: "running", forMs: 70 }, ended]), { ms: 30, untimed: 0 });
});

test("an instance that runs longer than expected has no estimate, so that the rest is a lower bound", () => {
  assert.deepEqual(left([work(10), work(40)], [{ kind: "running", forMs: 500 }, waiting]), {
    ms: 40,
    untimed: 1,
  });
  assert.equal(left([work(10)], [{ kind: "running", forMs: 500 }]), undefined, "never a rest of 0");
});

test("what has ended corrects the estimate of the rest, except what is built once", () => {
  const works = [work(10), work(10), work(100, { stage: "report" })];
  assert.equal(left(works, [{ kind: "ended", tookMs: 20 }, waiting, ended])?.ms, 20);
  assert.equal(left(works, [{ kind: "ended", tookMs: 20 }, ended, waiting])?.ms, 200);
  const built = [work(10, { lazy: true }), work(10)];
  assert.equal(left(built, [{ kind: "ended", tookMs: 99 }, waiting])?.ms, 10);
  const running: Standing = { kind: "running", forMs: 15 };
  assert.deepEqual(left(works, [{ kind: "ended", tookMs: 20 }, running, ended]), { ms: 5, untimed: 0 });
});

test("an instance without a duration gets the mean of its stage, preferably of this run", () => {
  const works = [work(10), work(30), work(undefined)];
  assert.equal(left(works, [ended, ended, waiting])?.ms, 20);
  assert.equal(left(works, [{ kind: "ended", tookMs: 50 }, ended, waiting])?.ms, 40);
});

test("instances without an estimate are counted, not guessed", () => {
  const works = [work(10), work(undefined, { stage: "report", collects: [0] })];
  assert.deepEqual(left(works, [waiting, waiting]), { ms: 10, untimed: 1 });
});

test("without estimates or remaining work there is no estimate", () => {
  assert.equal(left([work(undefined)], [waiting]), undefined);
  assert.equal(left([work(10), work(undefined, { stage: "report" })], [ended, waiting]), undefined);
  assert.equal(left([work(10)], [ended]), undefined);
  assert.equal(left([], []), undefined);
});

test("a scarce resource decides: four stages with a GPU each take turns on a single GPU", () => {
  const gpu = { cpus: 1, memoryBytes: 0, gpus: 1 };
  const works = [1, 2, 3, 4].map(() => work(10, { resources: gpu }));
  const capacity = { cpus: 64, memoryBytes: 8, gpus: 1 };
  assert.equal(left(works, [waiting, waiting, waiting, waiting], capacity)?.ms, 40);
});

test("an environment that is not needed yet counts 0 and delays nothing", () => {
  const works = [work(9000, { stage: "environment", lazy: true }), work(10, { environment: 0 })];
  assert.equal(left(works, [waiting, waiting])?.ms, 10);
  assert.equal(left(works, [{ kind: "running", forMs: 1000 }, waiting])?.ms, 8010);
});
