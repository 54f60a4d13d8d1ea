import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { forAll } from "./for-all.ts";

const items = Array.from({ length: 20 }, (_, at) => at);
const { signal } = new AbortController();

test("no more items are worked on at once than allowed, and results keep their order", async () => {
  let now = 0;
  let most = 0;
  const results = await forAll(items, { atOnce: 3, signal }, async (item) => {
    most = Math.max(most, ++now);
    await turn();
    now--;
    return item * 2;
  });
  assert.deepEqual([most, results], [3, items.map((item) => item * 2)]);
});

test("the first error is thrown once nothing runs any more, and no other item begins", async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const work = async (item: number, end: AbortSignal) => {
    begun.push(item);
    await turn();
    if (item === 1) throw new Error("first");
    while (!end.aborted) await turn();
    ended.push(item);
    throw new Error("later");
  };
  await assert.rejects(forAll(items, { atOnce: 3, signal }, work), /^Error: first$/);
  assert.deepEqual(
    [begun, ended.sort()],
    [
      [0, 1, 2],
      [0, 2],
    ],
  );
});

test("an abort from outside is thrown, whatever the items say", async () => {
  const outside = new AbortController();
  const work = async () => {
    outside.abort(new Error("outside"));
    throw new Error("inside");
  };
  await assert.rejects(forAll(items, { atOnce: 3, signal: outside.signal }, work), /^Error: outside$/);
});
