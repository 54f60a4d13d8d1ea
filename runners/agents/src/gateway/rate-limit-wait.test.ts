import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { rateLimitWait, retryAfterMs } from "./rate-limit-wait.ts";

function waits(leftMs: number) {
  const state = { begun: 0, ended: 0 };
  const wait = rateLimitWait({
    leftMs: () => leftMs,
    async waiting(_, run) {
      state.begun++;
      const result = await run();
      state.ended++;
      return result;
    },
  });
  return { wait, state };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a wait ends with what the provider asked for, though the program never asks again", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { wait, state } = waits(1e6);
    wait.passedOn(5000, 0);
    mock.timers.tick(4999);
    await settled();
    assert.deepEqual(state, { begun: 1, ended: 0 });
    mock.timers.tick(1);
    await settled();
    assert.deepEqual(state, { begun: 1, ended: 1 });
  } finally {
    mock.timers.reset();
  }
});

test("nothing is waited for while another call goes on, nor twice at once, nor beyond half of the time", async () => {
  const { wait, state } = waits(1e6);
  wait.passedOn(5000, 1);
  assert.equal(state.begun, 0);
  wait.passedOn(5000, 0);
  wait.passedOn(5000, 0);
  assert.equal(state.begun, 1);
  wait.asked();
  await settled();
  assert.equal(state.ended, 1);
  const none = waits(0);
  none.wait.passedOn(5000, 0);
  assert.equal(none.state.begun, 0);
});

test("providers say in three ways how long to wait", () => {
  assert.equal(retryAfterMs({ "retry-after-ms": "1500", "retry-after": "9" }), 1500);
  assert.equal(retryAfterMs({ "retry-after": "2.5" }), 2500);
  const soon = retryAfterMs({ "retry-after": new Date(Date.now() + 60_000).toUTCString() })!;
  assert.ok(soon > 50_000 && soon <= 60_000);
  assert.equal(retryAfterMs({ "retry-after": "Mon, 01 Jan 2001 00:00:00 GMT" }), 0);
  assert.equal(retryAfterMs({}), null);
  assert.equal(retryAfterMs({ "retry-after": "soon" }), null);
});
