import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { markdown } from "../formats/markdown.ts";
import { nastyExample } from "../testing/nasty-example.ts";
import { digitsText, meanError, partError, supportedDigits, validError } from "./digits-text.ts";

const shown = (value: number, error: number, digits = 3) => digitsText(value, supportedDigits(digits, error));

test("an error is in powers of ten if its value is", () => {
  assert.equal(digitsText(95_800_000, 0), "9.58e+7");
  assert.equal(digitsText(4_579_926, 0, 95_800_000), "4.58e+6");
  assert.equal(digitsText(4_579_926, 0), "4579926");
  assert.equal(digitsText(0, 0, 95_800_000), "0");
  assert.equal(digitsText(0.0571, 3, 3.052), "0.057");
});

test("a negative value that rounds to 0 has no sign", () => {
  assert.equal(digitsText(-0.0001, 3), "0.000");
});

test("a number has the digits that two significant digits of its error support, at most the scorer's", () => {
  assert.equal(shown(4.14159, 0.127), "4.14");
  assert.equal(shown(4.14159, 1.27), "4.1");
  assert.equal(shown(4.14159, 0.0127), "4.142");
  assert.equal(shown(4.14159, 0.000127), "4.142", "never more than the scorer declares");
  assert.equal(shown(4.14159, 0.0996), "4.14", "0.10 has two digits");
  assert.equal(shown(4_579_926, 123_456, 0), "4580000");
  assert.equal(shown(-4_579_926, 123_456, 0), "-4580000");
  assert.equal(shown(41, 1234, 0), "0");
  assert.equal(shown(95_812_345, 1_234_567, 0), "9.58e+7");
  assert.equal(shown(95_812_345, 23_456_789, 0), "9.6e+7");
});

test("an unknown, zero or infinite error leaves the scorer's digits", () => {
  for (const error of [null, undefined, 0, Number.NaN, Number.POSITIVE_INFINITY])
    assert.equal(supportedDigits(3, error), 3);
});

test("a printed error has two significant digits, or the digits that the scorer declares", () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 9e6, noNaN: true }), (error) => {
      const text = digitsText(error, supportedDigits(3, error));
      const significant = text
        .replace(".", "")
        .replace(/^0+/, "")
        .replace(/(?<=^\d\d)0+$/, "");
      assert.ok(significant.length <= 2, `${error} is printed as ${text}`);
      assert.ok(
        Math.abs(Number(text) - error) <= Math.max(error * 0.05, 0.0005) * 1.0001,
        `${error}: ${text}`,
      );
    }),
  );
});

test("a mean has the larger of the errors of what counts and of its valid attempts", () => {
  const errors = { betweenAttempts: 0.2, overItems: 0.05, overItemsIs: "exact" } as const;
  assert.equal(meanError({ counted: [1, null, 3], errors, validN: 4 }), 1);
  assert.equal(meanError({ counted: [1, 1, 1], errors, validN: 4 }), 0.1);
  assert.equal(meanError({ counted: [1], errors, validN: 4 }), 0.1);
  assert.equal(validError({ errors: { ...errors, betweenAttempts: null }, validN: 1 }), 0.05);
  const none = { betweenAttempts: null, overItems: null, overItemsIs: null };
  assert.equal(validError({ errors: none, validN: 0 }), null);
});

test("no table prints a value with an error of more than two significant digits, or other digits than its error", () => {
  const pairs = [
    ...markdown(nastyExample().report()).matchAll(/(-?\d+(?:\.\d+)?) (?:± |\()(0?\.?\d+\.\d+)(?=\)| )/g),
  ];
  assert.ok(pairs.length >= 7);
  for (const [text, value, error] of pairs) {
    assert.ok(error!.replace(".", "").replace(/^0+/, "").length <= 2, text);
    assert.equal(value!.split(".")[1]?.length, error!.split(".")[1]!.length, text);
  }
});

test("the error of a part of the items is larger by the root of their ratio", () => {
  assert.equal(partError(0.01, { items: 25, of: 2500 }), 0.1);
  assert.equal(partError(0.01, { items: 2500, of: 2500 }), 0.01);
});
