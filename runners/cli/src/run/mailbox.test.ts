import assert from "node:assert/strict";
import { test } from "node:test";
import { Mailbox } from "./mailbox.ts";

test("several events without a waiter are one event at the next take", async () => {
  const box = new Mailbox();
  box.put();
  box.put();
  assert.equal(await box.take(), true);
  assert.equal(await box.take(0), false);
});

test("a wait ends with an event and when the mailbox is closed", async () => {
  const box = new Mailbox();
  const waits = box.take();
  box.put();
  assert.equal(await waits, true);
  const again = box.take();
  box.close();
  assert.equal(await again, false);
  assert.equal(await box.take(), false, "a closed mailbox does not wait");
});

test("a burst ends after a quiet time, and an endless one is cut off", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const pass = async (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
    for (let turn = 0; turn < 5; turn++) await null;
  };
  const box = new Mailbox();
  let over = false;
  const wait = () => {
    over = false;
    void box.quiet({ quietMs: 100, mostMs: 1000 }).then(() => {
      over = true;
    });
  };
  wait();
  for (let edit = 0; edit < 5; edit++) {
    await pass(99);
    box.put();
    await pass(0);
    assert.equal(over, false, `edit ${edit}`);
  }
  await pass(100);
  assert.equal(over, true);
  wait();
  for (let edit = 0; edit < 11; edit++) {
    await pass(99);
    box.put();
    await pass(0);
  }
  assert.equal(over, true, "somebody writes without a pause");
});
