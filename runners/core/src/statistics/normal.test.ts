import assert from "node:assert/strict";
import { test } from "node:test";
import { lowerTail, normalQuantile } from "./normal.ts";
import { near } from "./testing/near.ts";

test("the normal distribution agrees with SciPy to twelve digits, also in the tails", () => {
  // scipy 1.15.3: stats.norm.cdf(x)
  for (const [x, expected] of [
    [-8, 6.22096057427174e-16],
    [-3, 0.0013498980316300933],
    [-2, 0.022750131948179195],
    [-1.5, 0.06680720126885807],
    [-0.1, 0.460172162722971],
  ] as const)
    near(lowerTail(x), expected, 1e-12 * expected);
  assert.equal(lowerTail(0), 0.5);
});

test("the series and the continued fraction agree at their boundary", () => {
  const slope = Math.exp(-2) / Math.sqrt(2 * Math.PI);
  near(lowerTail(-2 + 1e-9) - lowerTail(-2 - 1e-9), 2e-9 * slope, 1e-15);
});

test("a quantile agrees with SciPy and has its probability", () => {
  // scipy 1.15.3: stats.norm.ppf(p)
  for (const [p, expected] of [
    [1e-10, -6.361340902404056],
    [0.001, -3.090232306167813],
    [0.025, -1.9599639845400545],
    [0.3, -0.5244005127080409],
    [0.8, 0.8416212335729143],
  ] as const) {
    near(normalQuantile(p), expected, 1e-11);
    if (p < 0.5) near(lowerTail(normalQuantile(p)), p, 1e-12 * p);
  }
  for (const bad of [0, 1, -1, Number.NaN]) assert.throws(() => normalQuantile(bad), /bug/);
});
