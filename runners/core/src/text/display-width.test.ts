import assert from "node:assert/strict";
import { test } from "node:test";
import stringWidth from "string-width";
import { displayWidth } from "./display-width.ts";

for (const [text, width] of Object.entries({
  "plain text": 10,
  "3.052 ± 0.057 – 2 ↑…": 20,
  "┌─┐│█░": 6,
  日本: 4,
  "e\u0301": 1,
  "🙂": 2,
  "🇩🇪": 2,
  "👍🏽": 2,
  "\u2764\ufe0f": 2,
  "1\ufe0f\u20e3": 2,
  "👨\u200d👩\u200d👧": 2,
  "a\u200bb": 2,
  "\u1112\u1161\u11ab": 2,
  "\uff76\uff9e": 2,
  "": 0,
})) {
  test(`${JSON.stringify(text)} takes ${width} columns`, () => {
    assert.equal(displayWidth(text), width);
  });
}

test("every character of the basic plane has the width of string-width", () => {
  const wrong = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
    (character) => displayWidth(character) !== stringWidth(character, { countAnsiEscapeCodes: true }),
  );
  assert.deepEqual(wrong, []);
});
