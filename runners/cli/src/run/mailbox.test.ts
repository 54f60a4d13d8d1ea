import assert from "node:assert/strict";
import { test } from "node:test";
import { Mailbox } from "./mailbox.ts";

test("what happens while nobody waits is there at the next look, once however often it happened", async () => {
  const box = new Mailbox();
  box.put();
  box.put();
  assert.equal(await box.take(), true);
  assert.equal(await box.take(0), false);
});

test("whoever waits goes on when something happens, and when the box is closed", async () => {
  const box = new Mailbox();
  const waits = box.take();
  box.put();
  assert.equal(await waits, true);
  const again = box.take();
  box.close();
  assert.equal(await again, false);
  assert.equal(await box.take(), false, "nobody waits any more");
});

test("a burst is over only when nothing has come for a while, and one without an end is cut off", async (t) => {
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
