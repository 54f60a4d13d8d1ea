import assert from "node:assert/strict";
import { test } from "node:test";
import { checkReference, expectedText, type ReferenceScore } from "./check-reference.ts";

const scored = (value: number, standardError: number | null = 0.004): ReferenceScore => ({
  kind: "scored",
  value,
  standardError,
});
const phi2 = { kind: "range", low: 0.555, high: 0.577 } as const;

function passes(
  score: ReferenceScore,
  expected: Parameters<typeof checkReference>[1]["expected"],
  more: { floor?: number; direction?: "higher" | "lower" } = {},
): boolean {
  const { floor, direction = "higher" } = more;
  return checkReference(score, { expected, floor, direction }).passed;
}

test("a value passes in its range, ends included, and nowhere else", () => {
  for (const value of [0.555, 0.56, 0.577]) assert.ok(passes(scored(value), phi2), String(value));
  for (const value of [0.2533, 0.5549, 0.5771, 1]) assert.ok(!passes(scored(value), phi2), String(value));
});

test("above the trivial baseline means more than three standard errors better, in the metric's direction", () => {
  const above = { kind: "above-floor" } as const;
  assert.ok(passes(scored(0.263), above, { floor: 0.25 }));
  assert.ok(!passes(scored(0.2619), above, { floor: 0.25 }));
  assert.ok(!passes(scored(0.1), above, { floor: 0.25 }));
  assert.ok(passes(scored(0.1), above, { floor: 0.25, direction: "lower" }));
  assert.ok(!passes(scored(0.25, null), above, { floor: 0.25 }), "equal is not above");
  assert.ok(!passes(scored(0.9), above), "without a measured baseline nothing is above it");
});

test("where no range is known any finite value passes, also one below the trivial baseline", () => {
  const finite = { kind: "finite" } as const;
  assert.ok(passes(scored(0.5, null), finite, { floor: 0.54 }));
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) assert.ok(!passes(scored(value), finite));
});

test("a model that could not be scored passes nothing, and the answer says why", () => {
  for (const expected of [phi2, { kind: "finite" }, { kind: "above-floor" }] as const)
    assert.deepEqual(
      checkReference({ kind: "none", why: "rejected: ties" }, { expected, floor: 0.25, direction: "higher" }),
      { passed: false, words: "rejected: ties" },
    );
});

test("what is expected is said in words, with whether a range is known", () => {
  assert.equal(expectedText(phi2), "0.555 to 0.577");
  assert.match(expectedText({ kind: "above-floor" }), /3 standard errors; no range is known$/);
  assert.match(expectedText({ kind: "finite" }), /no range is known$/);
});
