import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { clipText, shownText } from "./clip-text.ts";

const shown = (text: string) => shownText(Buffer.from(text));

test("colours, window titles and bells are not shown", () => {
  assert.equal(shown("\u001b[1;31mred\u001b[0m \u001b]0;title\u0007and\u0007 plain\n"), "red and plain\n");
  assert.equal(shown("a\u0000b\u009bc\td\n"), "abc\td\n");
});

test("a progress bar is shown in its last state", () => {
  assert.equal(shown("10 %\r50 %\r100 %\ndone\r\n"), "100 %\ndone\n");
  assert.equal(shown("50 %\r"), "50 %");
});

test("bytes that are no UTF-8 are replaced", () => {
  assert.equal(shownText(Uint8Array.from([65, 0xff, 66])), "A\ufffdB");
});

test("a long text is shown by whole lines of its beginning and end", () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index}`);
  const { text, clipped } = clipText(
    { head: lines.join("\n"), tail: "", gap: false },
    "the middle is left out",
  );
  assert.ok(clipped);
  const shown = text.split("\n");
  const gap = shown.indexOf("[… the middle is left out …]");
  assert.deepEqual(shown.slice(0, gap), lines.slice(0, gap));
  assert.deepEqual(shown.slice(gap + 1), lines.slice(gap + 1 - shown.length));
});

test("no text grows by being clipped beyond its bound, or ends in half a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 3_000 }), fc.boolean(), (text, gap) => {
      const shown = clipText({ head: text, tail: text, gap }, "…", 500).text;
      assert.ok(shown.length <= 520);
      assert.ok(shown.isWellFormed());
    }),
  );
});
