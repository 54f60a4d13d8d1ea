import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { normalisedScore, type Scale } from "./normalised-score.ts";
import { near } from "./testing/near.ts";

const accuracy: Scale = { baseline: 0.25, reference: 0.65, direction: "higher", standardError: 0.01 };
const bits: Scale = { baseline: 3, reference: 2, direction: "lower", standardError: 0.05 };

const value = (score: number, scale: Scale) => {
  const normalised = normalisedScore(score, scale);
  return normalised.kind === "normalised" ? normalised.value : normalised.why;
};

test("the trivial baseline is 0 and the reference model 1, for either direction", () => {
  for (const scale of [accuracy, bits]) {
    assert.equal(value(scale.baseline, scale), 0);
    assert.equal(value(scale.reference, scale), 1);
  }
  near(value(2.25, bits) as number, 0.75, 1e-15);
});

test("better than the reference model is over 1 and worse than the trivial baseline under 0", () => {
  near(value(0.85, accuracy) as number, 1.5, 1e-15);
  near(value(0.15, accuracy) as number, -0.25, 1e-15);
  near(value(3.5, bits) as number, -0.5, 1e-15);
});

test("a scale of under five standard errors, of unknown error or with a worse reference model is refused", () => {
  assert.equal(value(0.4, { ...accuracy, standardError: 0.0801 }), "reference-too-near");
  near(value(0.45, { ...accuracy, standardError: 0.0799 }) as number, 0.5, 1e-15);
  assert.equal(value(0.4, { ...accuracy, standardError: undefined }), "error-unknown");
  assert.equal(value(0.4, { ...accuracy, reference: 0.25, standardError: 0 }), "reference-not-better");
  assert.equal(value(0.4, { ...accuracy, direction: "lower" }), "reference-not-better");
  assert.equal(value(2.5, { ...bits, direction: "higher" }), "reference-not-better");
  assert.equal(value(1e300, { ...accuracy, reference: 0.25 + 1e-10, standardError: 0 }), "out-of-range");
  assert.throws(() => normalisedScore(Number.NaN, accuracy), /bug/);
  assert.throws(() => normalisedScore(0.5, { ...accuracy, standardError: -1 }), /bug/);
});

test("adding a constant to all, or negating all with the direction, changes nothing", () => {
  const number = fc.double({ min: -1, max: 1, noNaN: true });
  fc.assert(
    fc.property(number, number, number, (score, baseline, shift) => {
      const scale: Scale = { baseline, reference: baseline + 0.5, direction: "higher", standardError: 0.01 };
      const there = value(score, scale) as number;
      near(
        value(score + shift, {
          ...scale,
          baseline: baseline + shift,
          reference: baseline + 0.5 + shift,
        }) as number,
        there,
        1e-13,
      );
      near(
        value(-score, {
          ...scale,
          baseline: -baseline,
          reference: -baseline - 0.5,
          direction: "lower",
        }) as number,
        there,
        1e-13,
      );
    }),
  );
});
