import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { digitsText, supportedDigits } from "../sections/digits-text.ts";
import { amountColumn, columnScale } from "./column-scale.ts";

test("bytes of one column are in one unit, with three digits of the smallest", () => {
  const scale = columnScale([492_000_000, 48_100_000, 605_000_000], "bytes")!;
  assert.deepEqual(scale, { divisor: 1e6, decimals: 1, unit: "MB" });
  assert.equal(digitsText(492_000_000, scale), "492.0");
  assert.equal(digitsText(48_100_000, scale), "48.1");
});

test("a mean has the digits of its error, in the same unit: 516 ± 3 MB", () => {
  const scale = columnScale([516_012_345, 2_966_543_210], "bytes")!;
  assert.equal(scale.unit, "GB");
  const megabytes = columnScale([516_012_345], "bytes")!;
  const digits = supportedDigits(megabytes, 29_665_430);
  assert.equal(digitsText(516_012_345, digits), "516");
  assert.equal(digitsText(29_665_430, digits), "30");
});

test("one outlier does not change the unit of a column", () => {
  assert.equal(columnScale([2e6, 3e6, 4e6, 5e13], "bytes")!.unit, "MB");
  assert.equal(columnScale([20, 30, 5e9], "count"), undefined);
});

test("a difference that is not 0 is not printed as 0", () => {
  const scale = columnScale([492_000_000], "bytes")!;
  assert.equal(digitsText(258, scale), "0.00026");
  assert.equal(digitsText(0, scale), "0");
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 50 }), (bytes) => Number(digitsText(bytes, scale)) > 0),
  );
});

test("without values, and for small numbers, the unit stays", () => {
  assert.equal(columnScale([], "bytes"), undefined);
  assert.equal(columnScale([0, Number.NaN], "bytes"), undefined);
  assert.equal(columnScale([512], "bytes"), undefined);
  assert.equal(columnScale([600], "seconds"), undefined);
  assert.equal(amountColumn([600], "seconds", 1).text(600), "600.0");
});

test("durations are in minutes or hours", () => {
  assert.equal(columnScale([601], "seconds")!.unit, "min");
  const { text, headUnit } = amountColumn([86_400, 43_200], "seconds", 1);
  assert.deepEqual([text(43_200), headUnit], ["12.0", "h"]);
});

test("a short time in hours and few tokens in millions are not printed as 0", () => {
  const hours = amountColumn([0.9, 43_200, 86_400], "seconds", 1);
  assert.deepEqual([hours.text(0.9), hours.headUnit], ["0.00025", "h"]);
  const tokens = amountColumn([300, 2e8, 3e8], "count", 0);
  assert.deepEqual([tokens.text(300), tokens.text(0), tokens.headUnit], ["0.00030", "0.000", "million"]);
});
