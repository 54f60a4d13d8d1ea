import assert from "node:assert/strict";
import { test } from "node:test";
import { displayWidth } from "@mlrb/core/text/display-width";
import fc from "fast-check";
import { wrap } from "./terminal-text.ts";

test("a word that does not fit goes to the next line", () => {
  assert.deepEqual(wrap("one two three", 8), ["one two", "three"]);
  assert.deepEqual(wrap("", 8), [""]);
});

test("a word that is too long is cut between graphemes, never within one", () => {
  assert.deepEqual(wrap("a 🇩🇪🇫🇷👍🏽e\u0301", 4), ["a", "🇩🇪🇫🇷", "👍🏽e\u0301"]);
});

test("a compound that is too long is cut after a hyphen", () => {
  assert.deepEqual(wrap("bits-per-byte-mean ↓", 16), ["bits-per-byte-", "mean ↓"]);
  assert.deepEqual(wrap("a-compound-of-words", 6), ["a-comp", "ound-", "of-wor", "ds"]);
});

test("no line is too wide, except for a single wide grapheme, and only spaces are lost", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 60 });
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 30 }), (words, width) => {
      const lines = wrap(words, width);
      for (const line of lines) {
        const isOne = [...new Intl.Segmenter().segment(line)].length === 1; // a note in music may take 3 columns
        assert.ok(isOne || displayWidth(line) <= width, JSON.stringify(line));
      }
      assert.equal(lines.join("").replaceAll(" ", ""), words.replaceAll(" ", ""));
    }),
  );
});
