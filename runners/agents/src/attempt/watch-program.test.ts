import assert from "node:assert/strict";
import { test } from "node:test";
import { watchProgram } from "./watch-program.ts";

test("shares of the budget used during a long look are reported when the time is over", async () => {
  const end = performance.now() + 60;
  const shares: number[] = [];
  const ending = await watchProgram(new Promise(() => {}), {
    leftMs: () => end - performance.now(),
    budgetMs: () => 60,
    pollMs: 1,
    look: () => new Promise(() => {}),
    used: (share) => shares.push(share),
  });
  assert.deepEqual([ending.kind, shares], ["time-limit", [0.25, 0.5, 0.75]]);
});
