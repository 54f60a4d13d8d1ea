import assert from "node:assert/strict";
import { test } from "node:test";
import { displayWidth } from "@mlrb/core/text/display-width";
import { type Table, textCell } from "../sections/table.ts";
import { layTable } from "./terminal-layout.ts";

const table = (...texts: string[]): Table => ({
  title: "",
  columns: [
    { head: "agent", rigid: false },
    { head: "score", rigid: true },
  ],
  groups: [{ name: "g", title: "", rows: texts.map((text) => [textCell(text), textCell("1.5")]) }],
});

test("flags, emoji, wide letters and combining marks leave the borders in one column", () => {
  const lines = layTable(
    table("plain", "🇩🇪 flag", "👍🏽\u2764\ufe0f1\ufe0f\u20e3", "日本語", "e\u0301te\u0301"),
    {
      width: 80,
      color: false,
    },
  ).split("\n");
  assert.deepEqual([...new Set(lines.map(displayWidth))], [19]);
});

test("a group's title spans all columns, and rows of a group have no rule between them", () => {
  const { columns, groups } = table("a", "b");
  const titled = { title: "", columns, groups: [{ ...groups[0]!, title: "one group" }, groups[0]!] };
  assert.equal(
    layTable(titled, { width: 80, color: false }),
    [
      "┌───────┬───────┐",
      "│ agent │ score │",
      "├───────┴───────┤",
      "│ one group     │",
      "│ a     │   1.5 │",
      "│ b     │   1.5 │",
      "│ a     │   1.5 │",
      "│ b     │   1.5 │",
      "└───────┴───────┘",
    ].join("\n"),
  );
});
