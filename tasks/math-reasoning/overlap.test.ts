import assert from "node:assert/strict";
import { test } from "node:test";
import { overlaps } from "./overlap.ts";
import type { Row } from "./split.ts";

function row(name: string, informal_statement: string, formal: string): Row {
  return { name, informal_statement, informal_proof: "", formal_proof: formal };
}

const train = [
  row("one", "Show that the sum of two even numbers is even.", "theorem one : even (a + b) := sorry"),
  row("two", "Show that 7 is prime.", "import tactic\n\nlemma two : nat.prime 7 := by norm_num"),
];

test("an item is grouped by its largest overlap with the training rows", () => {
  const kinds = {
    "English, spaced otherwise": row("a", "Show that  7 is\nprime.", "theorem a : false := x"),
    "formal, under another name and without the import": row(
      "b",
      "Seven has no divisors.",
      "theorem b : nat.prime 7 := by simp",
    ),
    "the name": row("two", "A statement of other words.", "theorem two : true := trivial"),
    "most words": row(
      "c",
      "Show that the sum of three even numbers is even.",
      "theorem c : even (a + b + c) := x",
    ),
    "few words": row("d", "Show that some group is abelian.", "theorem d : comm G := x"),
  };
  assert.deepEqual(overlaps(Object.values(kinds), train), [
    "same-statement",
    "same-statement",
    "same-name",
    "near-statement",
    "new",
  ]);
});

test("a statement without words is near no other", () => {
  assert.deepEqual(overlaps([row("x", "?", "theorem x : p := h")], [row("y", "!", "theorem y : q := h")]), [
    "new",
  ]);
});

test("names and statements in composed and decomposed letters are equal", () => {
  const known = [row("cafe\u0301", "Fu\u0308nf.", "theorem t : p := h")];
  const items = [
    row("caf\u00e9", "other", "theorem u : q := h"),
    row("v", "F\u00fcnf.", "theorem v : r := h"),
  ];
  assert.deepEqual(overlaps(items, known), ["same-name", "same-statement"]);
});
