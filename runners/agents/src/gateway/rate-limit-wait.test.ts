import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { lessWait, rateLimitWait } from "./rate-limit-wait.ts";

function waits(leftMs: number) {
  const state = { begun: 0, ended: 0 };
  const answers: number[] = [];
  const wait = rateLimitWait({
    leftMs: () => leftMs,
    async waiting(_, run) {
      state.begun++;
      const result = await run();
      state.ended++;
      return result;
    },
  });
  const hold = (retryAfterMs: number | null, others: number) =>
    void wait.hold({ retryAfterMs, others }, (waitedMs) => {
      answers.push(waitedMs);
      assert.equal(state.ended, 0, "the answer is given before anything thaws");
    });
  return { wait, hold, state, answers };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a 429 is held back as long as the provider asks, without another request of the program", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { hold, state, answers } = waits(1e6);
    hold(5000, 0);
    mock.timers.tick(4999);
    await settled();
    assert.deepEqual([state, answers], [{ begun: 1, ended: 0 }, []]);
    mock.timers.tick(1);
    await settled();
    assert.deepEqual([state, answers.length], [{ begun: 1, ended: 1 }, 1]);
  } finally {
    mock.timers.reset();
  }
});

test("no 429 is held during another call, nor two at once, nor beyond half of the time", async () => {
  const { wait, hold, state, answers } = waits(1e6);
  hold(5000, 1);
  assert.deepEqual([state.begun, answers], [0, [0]]);
  hold(5000, 0);
  hold(5000, 0);
  assert.deepEqual([state.begun, answers], [1, [0, 0]]);
  wait.asked();
  await settled();
  assert.deepEqual([state.ended, answers.length], [1, 3]);
  const none = waits(0);
  none.hold(5000, 0);
  assert.deepEqual([none.state.begun, none.answers], [0, [0]]);
});

test("a held 429 asks for the rest of its wait, in each form", () => {
  const headers = { "retry-after": "30", "retry-after-ms": "30000", "content-type": "application/json" };
  const body = '{"error":{"details":[{"retryDelay": "38.5s"}]}}';
  assert.deepEqual(lessWait(headers, body, 0), { headers, body });
  assert.deepEqual(lessWait(headers, body, 29_990), {
    headers: { "retry-after": "0", "retry-after-ms": "10", "content-type": "application/json" },
    body: '{"error":{"details":[{"retryDelay": "8.510s"}]}}',
  });
  assert.deepEqual(lessWait({ "retry-after": "90" }, "", 60_000).headers, { "retry-after": "30" });
  const date = { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" };
  assert.deepEqual(lessWait(date, "", 60_000).headers, date);
});
