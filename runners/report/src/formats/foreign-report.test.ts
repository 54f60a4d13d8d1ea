import assert from "node:assert/strict";
import { test } from "node:test";
import { nastyExample } from "../testing/nasty-example.ts";
import { markdown } from "./markdown.ts";
import { terminalMainTable, terminalTable } from "./terminal-table.ts";

// a bundle from elsewhere is printed by the same functions
const foreign = { ...nastyExample().report(), title: "t\u001b[2J\nx", note: "n\u009b2J\u202e\n# y" };

test("title and warning of a foreign report control no terminal", () => {
  const look = { width: 100, color: false };
  for (const text of [terminalTable(foreign, look), terminalMainTable(foreign, look)]) {
    assert.match(text, /^t x \(/);
    assert.doesNotMatch(text, /[^\P{Cc}\n]|\u202e/u);
  }
});

test("title and warning of a foreign report stay one line of Markdown", () => {
  assert.match(markdown(foreign), /^# t x \(.*\)\n\n> \*\*n \\# y\*\*\n/);
});
