import assert from "node:assert/strict";
import { test } from "node:test";
import { type Mutant, mutated, reportText, sampleOf } from "./mutant.ts";

const text = "const a = 1;\nconst b = a < 2 ? a : 3;\n";

function mutant(line: number, from: number, to: number, replacement: string, file = "a.ts"): Mutant {
  const location = { start: { line, column: from }, end: { line, column: to } };
  return { file, location, replacement, mutatorName: "Literal" };
}

const many = Array.from({ length: 50 }, (_, index) => mutant(1, 11, 12, String(index)));

test("a mutant changes its place and nothing else", () => {
  assert.equal(mutated(text, mutant(1, 11, 12, "7")), "const a = 7;\nconst b = a < 2 ? a : 3;\n");
  assert.equal(mutated(text, mutant(2, 11, 16, "true")), "const a = 1;\nconst b = true ? a : 3;\n");
});

test("a sample is the same for the same seed, and another for another", () => {
  const names = (seed: number) => sampleOf(many, seed, 5).map(({ replacement }) => replacement);
  assert.equal(names(1).length, 5);
  assert.deepEqual(names(1), names(1));
  assert.notDeepEqual(names(1), names(2));
});

test("mutants of a new file do not change which others are taken, as far as there is room", () => {
  const before = new Set(sampleOf(many, 3, 10));
  const after = sampleOf([...many, mutant(1, 1, 2, "x", "b.ts")], 3, 10);
  assert.ok(after.filter((one) => before.has(one)).length >= 9);
});

test("the report names each survivor with its place and change, and the share by module", () => {
  const fates = [
    { mutant: mutant(1, 11, 12, "7"), fate: "killed" as const },
    { mutant: mutant(2, 11, 16, "true"), fate: "survived" as const },
    { mutant: mutant(1, 1, 6, "let", "b.ts"), fate: "not-run" as const },
    { mutant: mutant(2, 1, 6, "", "b.ts"), fate: "killed-by-types" as const },
  ];
  const texts = new Map([
    ["a.ts", text],
    ["b.ts", text],
  ]);
  assert.equal(
    reportText(fates, texts),
    [
      "survived a.ts:2:11 Literal",
      "  - a < 2",
      "  + true",
      "survived b.ts:1:1 Literal, no test runs it",
      "  - const",
      "  + let",
      " 50.0 %  1 of 2  a.ts",
      " 50.0 %  1 of 2  b.ts",
      " 50.0 %  2 of 4  killed in all, 1 of them by tsc",
    ].join("\n"),
  );
});
