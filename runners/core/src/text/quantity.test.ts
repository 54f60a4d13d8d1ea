import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { quantityText } from "./quantity.ts";

test("bytes have a common unit with their error, and three significant digits", () => {
  assert.equal(quantityText(516_123_456, 2_966_543, "bytes"), "516 ± 3 MB");
  assert.equal(quantityText(80_412_345, 312_000, "bytes"), "80.4 ± 0.3 MB");
  assert.equal(quantityText(1_250_000_000, null, "bytes"), "1.25 GB");
  assert.equal(quantityText(512, 0, "bytes"), "512 ± 0 bytes");
});

test("other numbers have two significant digits of their error", () => {
  assert.equal(quantityText(2.5621234, 0.0523, "bits/byte"), "2.562 ± 0.052 bits/byte");
  assert.equal(quantityText(2.5, 0.5, "points"), "2.5 ± 0.5 points");
  assert.equal(quantityText(1234.5, 31.4, "1/min"), "1235 ± 31 1/min");
  assert.equal(quantityText(0.583333, null, "accuracy"), "0.5833 accuracy");
  assert.equal(quantityText(4_920_000_000, 12_000_000, "perplexity"), "4.92 ± 0.01 billion perplexity");
});

test("no number is written in powers of ten", () => {
  const number = fc.double({ min: -1e15, max: 1e15, noNaN: true });
  const error = fc.option(fc.double({ min: 0, max: 1e15, noNaN: true }));
  fc.assert(
    fc.property(number, error, fc.constantFrom("bytes", "s", "points"), (value, own, unit) => {
      assert.doesNotMatch(quantityText(value, own, unit), /\de[+-]?\d|NaN|Infinity/);
    }),
  );
});
