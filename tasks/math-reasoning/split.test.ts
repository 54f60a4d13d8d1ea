import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { partOf, type Row, split, statementOf } from "./split.ts";

function row(name: string, informal: string, formal: string): Row {
  return {
    name,
    informal_statement: informal,
    informal_proof: "",
    formal_proof: `theorem ${name} ${formal}`,
  };
}

/** The first name with the prefix `stem` whose hash is in `part`. */
function nameIn(part: "test" | "dev" | "train", stem: string): string {
  for (let at = 0; ; at++) if (partOf(`${stem}${at}`) === part) return `${stem}${at}`;
}

test("a name's part is its hash modulo ten: 0 test, 1 dev, the rest train", () => {
  for (const name of ["exercise_1_13b", "and_swap_000_1", "café"]) {
    const hash = createHash("sha256").update(`mlrb-math-v1:${name}`).digest();
    const rest = hash.reduce((left, byte) => (left * 256 + byte) % 10, 0);
    assert.equal(partOf(name), rest === 0 ? "test" : rest === 1 ? "dev" : "train");
  }
});

test("a name written in composed or decomposed letters is the same name", () => {
  for (let at = 0; at < 40; at++) assert.equal(partOf(`e\u0301${at}`), partOf(`\u00e9${at}`));
});

test("about a tenth of names is test and a tenth dev", () => {
  const parts = Array.from({ length: 4000 }, (_, at) => partOf(`name ${at}`));
  for (const part of ["test", "dev"]) {
    const share = parts.filter((found) => found === part).length / parts.length;
    assert.ok(share > 0.08 && share < 0.12, `${part}: ${share}`);
  }
});

test("rows with the same meaning in either language are in one part, that of their first name", () => {
  const [early, late, other] = [nameIn("train", "a"), nameIn("test", "b"), nameIn("dev", "c")];
  const rows = [
    row(late, "Two  claims.", ": p := h"),
    row(other, "Another claim.", ": q :=\n  h"),
    row(early, "Two claims.", ": q := by simp"),
  ];
  // the first and the third row share English, the second and the third share Lean
  assert.deepEqual(split(rows), ["train", "train", "train"]);
  assert.deepEqual(split(rows.slice(0, 2)), ["test", "dev"]);
});

test("a statement ends at the first := and excludes the theorem's name", () => {
  assert.equal(statementOf(row("x", "", "(p : Prop)\n  : p :=\nbegin a := b end")), "(p : Prop) : p");
  assert.equal(
    statementOf(row("one", "", "(n : ℕ) : n = n := rfl")),
    statementOf(row("two", "", "(n : ℕ) : n = n := by simp")),
  );
});
