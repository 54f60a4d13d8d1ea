import assert from "node:assert/strict";
import { test } from "node:test";
import { meanRanks } from "./mean-ranks.ts";

test("equal values share their mean rank, and every task has the same weight", () => {
  const tasks = [
    [3, 1, 2],
    [5, 5, 9],
  ];
  assert.deepEqual(meanRanks(tasks), [(1 + 2.5) / 2, (3 + 2.5) / 2, (2 + 1) / 2]);
});

test("without tasks there are no ranks", () => {
  assert.equal(meanRanks([]), undefined);
});
