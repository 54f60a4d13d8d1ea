import assert from "node:assert/strict";
import { test } from "node:test";
import { exactInterval } from "./exact-interval.ts";
import { near } from "./testing/near.ts";

test("the exact interval of a rate is SciPy's", () => {
  // scipy 1.15.3: stats.binomtest(k, n).proportion_ci(method="exact")
  for (const [events, trials, low, high] of [
    [0, 1, 0, 0.975],
    [0, 34, 0, 0.10282],
    [0, 75, 0, 0.048],
    [1, 75, 0.00034, 0.07206],
    [3, 7, 0.09899, 0.81595],
    [81, 263, 0.25274, 0.36762],
    [7, 7, 0.59038, 1],
  ] as const) {
    const interval = exactInterval(events, trials);
    near(interval[0], low, 0.00001);
    near(interval[1], high, 0.00001);
  }
});

test("0 of 72 bounds a rate by 5 %, and 0 of 71 does not", () => {
  assert.ok(exactInterval(0, 72)[1] <= 0.05);
  assert.ok(exactInterval(0, 71)[1] > 0.05);
});

test("impossible counts are a bug, and so are no trials", () => {
  for (const [events, trials] of [
    [2, 1],
    [-1, 3],
    [0.5, 3],
    [0, 0],
  ] as const)
    assert.throws(() => exactInterval(events, trials), /bug/);
});
