import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pollGently } from "./poll-gently.ts";

test("looks get at most a tenth of the time", async () => {
  const over = new AbortController();
  const times: [begin: number, end: number][] = [];
  const look = async () => {
    const begin = performance.now();
    await sleep(10);
    times.push([begin, performance.now()]);
    if (times.length === 3) over.abort();
  };
  await pollGently(look, { pauseMs: 1, signal: over.signal });
  for (const [at, [begin, end]] of times.slice(0, -1).entries())
    assert.ok(times[at + 1]![0] - end >= 8 * (end - begin), String(times));
});

test("polling ends at its signal, and with the error of a look", async () => {
  await pollGently(() => assert.fail("no look after the end"), {
    pauseMs: 1e6,
    signal: AbortSignal.timeout(5),
  });
  const failing = pollGently(() => Promise.reject(new Error("full")), {
    pauseMs: 1,
    signal: new AbortController().signal,
  });
  await assert.rejects(failing, /full/);
});
