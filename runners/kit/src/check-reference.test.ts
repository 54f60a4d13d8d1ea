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
  more: { baseline?: number; guesses?: number[]; direction?: "higher" | "lower" } = {},
): boolean {
  const { baseline, guesses = [], direction = "higher" } = more;
  return checkReference(score, { expected, baseline, guesses, direction }).passed;
}

test("a value passes in its range, ends included, and nowhere else", () => {
  for (const value of [0.555, 0.56, 0.577]) assert.ok(passes(scored(value), phi2), String(value));
  for (const value of [0.2533, 0.5549, 0.5771, 1]) assert.ok(!passes(scored(value), phi2), String(value));
});

test("above the trivial baseline means more than three standard errors better, in the metric's direction", () => {
  const above = { kind: "above-baseline" } as const;
  assert.ok(passes(scored(0.263), above, { baseline: 0.25 }));
  assert.ok(!passes(scored(0.2619), above, { baseline: 0.25 }));
  assert.ok(!passes(scored(0.1), above, { baseline: 0.25 }));
  assert.ok(passes(scored(0.1), above, { baseline: 0.25, direction: "lower" }));
  assert.ok(!passes(scored(0.25, null), above, { baseline: 0.25 }), "equal is not above");
  assert.ok(!passes(scored(0.9), above), "without a measured baseline nothing is above it");
});

test("a model that is no better than a guess, such as always the same letter, is not above the trivial baseline", () => {
  const above = { kind: "above-baseline" } as const;
  const guesses = [0.25, 0.2695];
  assert.ok(!passes(scored(0.2695, 0.0037), above, { baseline: 0.25, guesses }), "as a broken model scores");
  assert.ok(passes(scored(0.2695, 0.0037), above, { baseline: 0.25 }));
  assert.ok(passes(scored(0.28, 0.0037), above, { baseline: 0.25, guesses }));
  assert.ok(!passes(scored(3.1, 0.01), above, { baseline: 4, guesses: [3], direction: "lower" }));
});

test("where no range is known any finite value passes, also one below the trivial baseline", () => {
  const finite = { kind: "finite" } as const;
  assert.ok(passes(scored(0.5, null), finite, { baseline: 0.54 }));
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) assert.ok(!passes(scored(value), finite));
});

test("a published value comes back within its share, above or below, and the answer has both values", () => {
  const published = { kind: "published", value: 200, within: 0.01 } as const;
  for (const value of [198.1, 200, 201.9]) assert.ok(passes(scored(value), published), String(value));
  for (const value of [197.9, 202.1, 0, -200]) assert.ok(!passes(scored(value), published), String(value));
  const at = { expected: published, baseline: undefined, guesses: [], direction: "lower" } as const;
  assert.equal(
    checkReference(scored(201), at).words,
    "published 200, here 201 (+0.500 %; at most 1 % expected)",
  );
});

test("a published number that is not the score is compared with the row's number of that name, or with none", () => {
  const expected = { kind: "published", value: 200, within: 0.01, of: "mean" } as const;
  const row = { ...scored(5), extra: { mean: 199 } } as ReferenceScore;
  assert.ok(passes(row, expected));
  assert.ok(!passes({ ...row, extra: { mean: 5 } } as ReferenceScore, expected));
  const at = { expected, baseline: undefined, guesses: [], direction: "lower" } as const;
  assert.deepEqual(checkReference(scored(200), at), { passed: false, words: "the row has no mean" });
});

test("a model that could not be scored passes nothing, and the answer says why", () => {
  for (const expected of [phi2, { kind: "finite" }, { kind: "above-baseline" }] as const)
    assert.deepEqual(
      checkReference(
        { kind: "none", why: "rejected: ties" },
        { expected, baseline: 0.25, guesses: [], direction: "higher" },
      ),
      { passed: false, words: "rejected: ties" },
    );
});

test("what is expected is said in words, with whether a range is known", () => {
  assert.equal(expectedText(phi2), "0.555 to 0.577");
  const published = { kind: "published", value: 33.2258, within: 0.001 } as const;
  assert.equal(expectedText({ ...published, of: "mean" }), "mean 33.2258, within 0.1 %");
  assert.match(
    expectedText({ kind: "above-baseline" }),
    /3 standard errors, and than any guess; no range is known$/,
  );
  assert.match(expectedText({ kind: "finite" }), /no range is known$/);
});
