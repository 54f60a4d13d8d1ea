import assert from "node:assert/strict";
import { test } from "node:test";
import { digitsText } from "./digits-text.ts";

test("an error is in powers of ten if its value is", () => {
  assert.equal(digitsText(95_800_000, 0), "9.58e+7");
  assert.equal(digitsText(4_579_926, 0, 95_800_000), "4.58e+6");
  assert.equal(digitsText(4_579_926, 0), "4579926");
  assert.equal(digitsText(0.0571, 3, 3.052), "0.057");
});

test("a negative value that rounds to 0 has no sign", () => {
  assert.equal(digitsText(-0.0001, 3), "0.000");
});
