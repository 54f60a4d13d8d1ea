import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fakeSandbox } from "../testing/fake-sandbox.ts";
import { testClock } from "../testing/test-clock.ts";
import { supervise } from "./supervise.ts";
import type { Supervision } from "./supervision.ts";
import type { Ending } from "./watch-program.ts";

/** Of an agent whose submission takes `copied` to be copied at each look. */
function supervision(copied: Promise<void>, beat: () => void): Supervision {
  const nothing = () => {};
  const parts = {
    request: { agent: "a", budget: { timeMs: 1e9 }, pollMs: 2 },
    ...{ sandbox: fakeSandbox(), clock: testClock() },
    meter: { leftMs: () => 1e9, beat, limits: () => ({ timeMs: 1e9 }), tellExtension: async () => {} },
    trajectory: { add: nothing, short: () => false },
    output: { flush: nothing, end: nothing },
    iterations: { read: async () => {} },
    snapshots: { look: () => copied },
  };
  return parts as unknown as Supervision;
}

const exited: Ending = { kind: "exited", code: 0 };

test("signs of life go on while a large submission is copied", async (t) => {
  const copied = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Ending>();
  t.after(() => ended.resolve(exited));
  let beats = 0;
  const enough = Promise.withResolvers<void>();
  const run = supervise(
    supervision(copied.promise, () => void (++beats === 10 && enough.resolve())),
    () => ({ running: ended.promise }),
  );
  const late = sleep(5000, "late", { ref: false });
  const first = await Promise.race([enough.promise, late]);
  copied.resolve();
  assert.notEqual(first, "late", `${beats} signs of life`);
  ended.resolve(exited);
  assert.deepEqual((await run).ending, exited);
  const before = beats;
  await sleep(20);
  assert.equal(beats, before, "none after the end");
});

const noRoom = () => {
  throw Object.assign(new Error("no room"), { code: "ENOSPC" });
};

test("a sign of life that a full disk does not take ends an attempt whose disk its agent did not fill", async () => {
  const run = supervise(supervision(Promise.resolve(), noRoom), () => ({ running: new Promise(() => {}) }));
  await assert.rejects(run, /no room/);
});

test("an agent that ends after such a sign of life, and before the next look, has ended", async () => {
  const ended = Promise.withResolvers<Ending>();
  const beat = () => {
    ended.resolve(exited);
    noRoom();
  };
  const run = supervise(supervision(Promise.resolve(), beat), () => ({ running: ended.promise }));
  assert.deepEqual((await run).ending, exited);
});
