import assert from "node:assert/strict";
import { test } from "node:test";
import { resumedLine, resumedText } from "./resumed-words.ts";

test("an attempt says how often it was resumed", () => {
  assert.equal(resumedText({}), "");
  assert.equal(resumedText({ resumed: 1 }), "resumed once after its supervisor or host died");
  assert.equal(resumedText({ resumed: 3 }), "resumed 3 times after its supervisor or host died");
});

test("a footnote counts the resumed attempts, not their restarts", () => {
  assert.equal(resumedLine([{}, {}]), "");
  assert.equal(
    resumedLine([{ resumed: 3 }, {}]),
    "1 attempt was resumed after a supervisor or host died (#).",
  );
  assert.equal(
    resumedLine([{ resumed: 3 }, { resumed: 1 }]),
    "2 attempts were resumed after a supervisor or host died (#).",
  );
});
