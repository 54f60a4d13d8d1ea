import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { AttemptClock } from "./attempt-clock.ts";

/** A sandbox that records each change, and fails on a change to the same state. */
function sandboxed(clock: { now: number }, slow: () => Promise<void> = async () => {}) {
  const said: string[] = [];
  let frozen = false;
  let busy = false;
  const change = async (to: boolean, word: string) => {
    assert.equal(busy, false, "one change at a time");
    assert.notEqual(frozen, to, word);
    busy = true;
    await slow();
    busy = false;
    frozen = to;
    said.push(word);
    return true;
  };
  const time = new AttemptClock({
    sandbox: { freeze: () => change(true, "freeze"), thaw: () => change(false, "thaw") },
    startedWall: 0,
    sinceStart: () => clock.now,
  });
  return { time, said, isFrozen: () => frozen };
}

test("overlapping waits freeze once and thaw once, in any order", async () => {
  const clock = { now: 0 };
  const { time, said } = sandboxed(clock);
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const waits = ends.map(({ promise }) => time.during(() => promise));
  await setImmediate();
  for (const index of [2, 0, 3, 1]) {
    clock.now += 10;
    ends[index]!.resolve();
    await setImmediate();
  }
  await Promise.all(waits);
  assert.deepEqual(said, ["freeze", "thaw"]);
  assert.equal(time.frozenMs(), 40);
});

test("the sandbox is frozen exactly while a wait is in progress, and frozen time is the union of all waits", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    let state = seed * 2654435761;
    const random = (below: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state % below;
    };
    const clock = { now: 0 };
    const { time, isFrozen } = sandboxed(clock, async () => {
      for (let turn = random(3); turn > 0; turn--) await Promise.resolve();
    });
    const open: { end: () => void; over: Promise<void> }[] = [];
    let union = 0;
    for (let step = 0; step < 40; step++) {
      if (open.length === 0 || random(2) === 0) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const fails = random(4) === 0;
        const over = time.during(() => promise).catch(() => {});
        open.push({ end: () => (fails ? reject(new Error("wait")) : resolve()), over });
      } else {
        open.splice(random(open.length), 1)[0]!.end();
      }
      await setImmediate();
      assert.equal(isFrozen(), open.length > 0, `seed ${seed}, step ${step}`);
      const pass = random(100);
      clock.now += pass;
      if (open.length > 0) union += pass;
      assert.equal(time.frozenMs(), union, `seed ${seed}, step ${step}`);
    }
    for (const one of open) one.end();
    await Promise.all(open.map(({ over }) => over));
    assert.equal(isFrozen(), false);
  }
});

test("a wait ends only after everything frozen for it has thawed", async () => {
  const clock = { now: 0 };
  const { time, said } = sandboxed(clock, () => setImmediate());
  await time.during(async () => {});
  assert.deepEqual(said, ["freeze", "thaw"]);
});

test("after the end of an attempt, the end of a wait thaws nothing and adds no frozen time", async () => {
  const clock = { now: 0 };
  const { time, said } = sandboxed(clock);
  const wait = Promise.withResolvers<void>();
  const waiting = time.during(() => wait.promise);
  await setImmediate();
  clock.now = 100;
  assert.equal(await time.stop(), true);
  clock.now = 500;
  wait.resolve();
  await waiting;
  assert.deepEqual(said, ["freeze"]);
  assert.equal(time.frozenMs(), 100);
});

test("stop returns false if something cannot be frozen", async () => {
  const sandbox = { freeze: async () => false, thaw: async () => true };
  const time = new AttemptClock({ sandbox, startedWall: 0, sinceStart: () => 0 });
  assert.equal(await time.stop(), false);
});

test("time for which the job was suspended is no work, and counts once if the sandbox was frozen", async () => {
  let [nowMs, stoppedMs] = [0, 0];
  const pass = (ms: number, { stopped }: { stopped: boolean }) => {
    nowMs += ms;
    if (stopped) stoppedMs += ms;
  };
  const take = () => {
    const taken = stoppedMs;
    stoppedMs = 0;
    return taken;
  };
  const sandbox = { freeze: async () => true, thaw: async () => true };
  const stopped = { take, close() {} };
  const time = new AttemptClock({ sandbox, startedWall: 0, sinceStart: () => nowMs, stopped });
  pass(1000, { stopped: false });
  pass(60_000, { stopped: true });
  assert.equal(time.workingMs(), 1000);
  assert.equal(time.takeSuspendedMs(), 60_000);
  assert.equal(time.takeSuspendedMs(), 0);
  await time.during(async () => {
    await setImmediate();
    pass(60_000, { stopped: true });
  });
  assert.equal(time.workingMs(), 1000);
  assert.equal(time.takeSuspendedMs(), 0);
});
