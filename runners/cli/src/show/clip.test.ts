import assert from "node:assert/strict";
import { test } from "node:test";
import { displayWidth } from "@mlrb/core/text/display-width";
import fc from "fast-check";
import { clip } from "./clip.ts";

test("a text that fits is unchanged, also with flags", () => {
  assert.equal(clip("🇩🇪🇫🇷", 4), "🇩🇪🇫🇷");
});

test("flags, skin tones and accents are never split", () => {
  assert.equal(clip("ab🇩🇪🇫🇷", 5), "ab🇩🇪…");
  assert.equal(clip("ab🇩🇪🇫🇷", 4), "ab…");
  assert.equal(clip("👍🏽👍🏽", 3), "👍🏽…");
  assert.equal(clip("e\u0301e\u0301e\u0301", 2), "e\u0301…");
});

test("a cut text is never too wide", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 0, max: 20 }), (text, width) => {
      assert.ok(displayWidth(clip(text, width)) <= width);
    }),
  );
});
