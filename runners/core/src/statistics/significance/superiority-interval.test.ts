import assert from "node:assert/strict";
import { test } from "node:test";
import { near } from "../testing/near.ts";
import { wilsonInterval } from "../wilson-interval.ts";
import { superiorityInterval } from "./superiority-interval.ts";

test("a share of 1 of five against five at one task has Wilson's interval of 5 of 5", () => {
  assert.deepEqual(superiorityInterval([{ a: 5, b: 5 }], 1), wilsonInterval(5, 5));
});

test("the fewer attempts of the two agents decide, and further tasks narrow the interval", () => {
  const [low] = superiorityInterval([{ a: 5, b: 500 }], 0.8)!;
  near(low, wilsonInterval(4, 5)![0], 1e-12);
  const [lower, upper] = superiorityInterval(
    Array.from({ length: 7 }, () => ({ a: 5, b: 5 })),
    0.8,
  )!;
  near(lower, wilsonInterval(28, 35)![0], 1e-12);
  near(upper, wilsonInterval(28, 35)![1], 1e-12);
});

test("swapped agents mirror the interval", () => {
  const sizes = [
    { a: 3, b: 5 },
    { a: 5, b: 4 },
  ];
  const [low, high] = superiorityInterval(sizes, 0.7)!;
  const swapped = superiorityInterval(
    sizes.map(({ a, b }) => ({ a: b, b: a })),
    0.3,
  )!;
  near(swapped[0], 1 - high, 1e-12);
  near(swapped[1], 1 - low, 1e-12);
});

test("without tasks there is none", () => {
  assert.equal(superiorityInterval([], 0.5), undefined);
});
