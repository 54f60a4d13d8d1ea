import assert from "node:assert/strict";
import { test } from "node:test";
import { attemptMarks, withFootnotes } from "./attempt-marks.ts";

const { text: textOf } = attemptMarks.find(({ mark }) => mark === "#")!;

test("an attempt says how often it was resumed", () => {
  assert.equal(textOf({}), "");
  assert.equal(textOf({ resumed: 1 }), "resumed once after its supervisor or host died");
  assert.equal(textOf({ resumed: 3 }), "resumed 3 times after its supervisor or host died");
});

test("a footnote counts the resumed attempts, not their restarts", () => {
  assert.equal(withFootnotes("", [{}, {}]), "");
  assert.equal(
    withFootnotes("", [{ resumed: 3 }, {}]),
    "1 attempt was resumed after a supervisor or host died (#).",
  );
  assert.equal(
    withFootnotes("", [{ resumed: 3 }, { resumed: 1 }]),
    "2 attempts were resumed after a supervisor or host died (#).",
  );
});
