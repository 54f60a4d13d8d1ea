import assert from "node:assert/strict";
import { test } from "node:test";
import { atMost } from "./at-most.ts";

test("no more calls run at once than allowed, and each gets its own answer", async () => {
  const waiting: (() => void)[] = [];
  const call = atMost(2, async (name: string) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return name;
  });
  const all = Promise.all(["a", "b", "c"].map((name) => call(name)));
  await new Promise(setImmediate);
  assert.equal(waiting.length, 2);
  for (let at = 0; at < 3; at++) {
    waiting.shift()!();
    await new Promise(setImmediate);
  }
  assert.deepEqual(await all, ["a", "b", "c"]);
});
