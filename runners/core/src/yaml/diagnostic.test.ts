import assert from "node:assert/strict";
import { test } from "node:test";
import { renderDiagnostic } from "./diagnostic.ts";

test("the caret is below its word after flags, marks and wide letters", () => {
  const before = "title: 🇩🇪 👍🏽 日本 e\u0301 "; // 7 + 2 + 1 + 2 + 1 + 4 + 1 + 1 + 1 columns
  const excerpt = `${before}wrong`;
  const place = { file: "a.yaml", line: 1, column: before.length + 1, excerpt, length: 5 };
  const caret = renderDiagnostic({ code: "c", message: "m", place }).split("\n")[2]!;
  assert.equal(caret, `    | ${" ".repeat(20)}^^^^^`);
});
