import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../random.ts";
import { holm } from "./holm.ts";
import { trendTest } from "./trend-test.ts";

test("the exact p of a small block is met", () => {
  // of the 10!/(5! 5!) splits of ten values two are as far apart as these
  const block = [
    [1, 2, 3, 4, 5],
    [6, 7, 8, 9, 10],
  ];
  const found = trendTest([block])!;
  assert.ok(Math.abs(found.p - 2 / 252) < 0.003, String(found.p));
  assert.equal(found.rises, true);
  assert.equal(trendTest([block.toReversed()])!.rises, false);
  assert.deepEqual(trendTest([block]), found, "the same blocks give the same p");
});

test("blocks add up, without a common scale", () => {
  const block = [[1], [2], [3]];
  const scaled = [[100], [200], [300]];
  // 6 orders of one block, 36 of two: 2 are as far as the observed
  assert.ok(Math.abs(trendTest([block])!.p - 2 / 6) < 0.02);
  assert.ok(Math.abs(trendTest([block, scaled])!.p - 2 / 36) < 0.01);
});

test("nothing is tested without two doses or two values", () => {
  assert.equal(trendTest([]), undefined);
  assert.equal(trendTest([[[1, 2], []]]), undefined);
  assert.equal(
    trendTest([
      [
        [1, 1],
        [1, 1],
      ],
    ]),
    undefined,
  );
});

test("without an effect any agent has p under 0.05 after Holm in at most 5 % of reports", () => {
  const random = seededRandom(7);
  const reports = 200;
  let wrong = 0;
  for (let report = 0; report < reports; report++) {
    const p = [1, 2, 3].map(() => {
      const block = () => [1, 2, 3, 4].map(() => [1, 2, 3].map(() => Math.max(0, random.normal())));
      return trendTest([block(), block()], 199)!.p;
    });
    if (Math.min(...holm(p)) <= 0.05) wrong++;
  }
  // 5 % of 200 are 10; 17 or more would come in 2 % of suites
  assert.ok(wrong <= 17, `${wrong} of ${reports}`);
});
