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

test("an error or a value that is not 0 is never printed as 0", () => {
  assert.equal(quantityText(1.234e9, 1e6, "bytes"), "1.234 ± 0.001 GB");
  assert.equal(quantityText(516e6, 3000, "bytes"), "516.000 ± 0.003 MB");
  assert.equal(quantityText(1.2e-7, null, "loss"), "0.00000012 loss");
  assert.equal(quantityText(-1.2e-7, 0, "loss"), "-0.00000012 ± 0.00000000 loss");
  assert.equal(quantityText(0.5, 1e-9, "accuracy"), "0.5000000000 ± 0.0000000010 accuracy");
  assert.equal(quantityText(3e12, 1e-3, "bytes"), "3.000000000000 ± <0.000000000001 TB");
  assert.equal(quantityText(-1e-30, null, "s"), ">-0.000000000001 s");
  assert.equal(quantityText(0.0001, 0.5, "points"), "0.0 ± 0.5 points", "a value may be 0 within its error");
  const number = fc.double({ min: Number.MIN_VALUE, max: 1e15, noNaN: true });
  fc.assert(
    fc.property(number, number, fc.constantFrom("bytes", "s"), (value, error, unit) => {
      assert.match(quantityText(value, error, unit).split("±")[1]!, /<|[1-9]/);
      assert.match(quantityText(value, null, unit), /<|[1-9]/);
    }),
  );
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
