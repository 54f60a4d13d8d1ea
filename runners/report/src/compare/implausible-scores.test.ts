import assert from "node:assert/strict";
import { test } from "node:test";
import { Example, referenceRows, scored } from "../testing/example.ts";

type Rows = Parameters<typeof referenceRows>[1];

/** The seeds that are marked; the error over items of a score is 0.1. */
function marked(
  bits: number,
  {
    rows,
    parameters = 100,
    standardError = 0.1,
  }: { rows: Rows; parameters?: number | null; standardError?: number },
): string[] {
  const example = new Example();
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const items = [
    { id: "a", value: bits, weight: 1 },
    { id: "b", value: bits, weight: 1 },
  ];
  const facts = parameters === null ? {} : { parameters };
  example
    .gives("attempt", axes, { submission: "sha256:x" })
    .gives("validate", axes, { verdict: { formatVersion: 1, kind: "pass", rules: [], facts } })
    .gives("score", { ...axes, scorer: "bits" }, scored("bits", items, standardError))
    .gives("references", { task: "letters", scorer: "bits" }, referenceRows("bits", rows));
  return example.report().cells[0]!.implausible.map(({ row }) => row);
}

const row = (name: string, value: number, more = {}) => ({ name, value, standardError: 0.1, ...more });

test("a score is implausible beyond five times both errors of the nearest reference model", () => {
  assert.deepEqual(marked(0.9, { rows: [row("near", 2), row("far", 3)] }), ["near"]);
  assert.deepEqual(marked(1.1, { rows: [row("near", 2), row("far", 3)] }), []);
});

test("a reference model of more than twice the size is no reference, one of unknown size is", () => {
  const small = row("small", 3, { parameters: 200 });
  assert.deepEqual(marked(1.5, { rows: [small, row("large", 1, { parameters: 201 })] }), ["small"]);
  assert.deepEqual(marked(1.5, { rows: [small, row("large", 1, { parameters: 200 })] }), []);
  assert.deepEqual(marked(1.5, { rows: [small, row("unknown", 1)] }), []);
  assert.deepEqual(
    marked(1.5, { rows: [small, row("large", 1, { parameters: 999 })], parameters: null }),
    [],
  );
});

test("without another reference than guesses and untrained models nothing is implausible", () => {
  const rows = [row("chance", 5, { kind: "guess" }), row("random", 6, { kind: "untrained" })];
  assert.deepEqual(marked(0.1, { rows }), []);
  assert.deepEqual(marked(0.1, { rows: [...rows, row("bigram", 2)] }), ["bigram"]);
});

test("a score without an error over items is marked, also against a row without one", () => {
  assert.deepEqual(marked(0.1, { rows: [row("near", 2)], standardError: 0 }), ["near"]);
  assert.deepEqual(marked(0.1, { rows: [{ name: "near", value: 2 }], standardError: 0 }), ["near"]);
  assert.deepEqual(marked(2.1, { rows: [{ name: "near", value: 2 }], standardError: 0 }), []);
  const level = [
    { name: "far", value: 3 },
    { name: "level", value: 2 },
  ];
  assert.deepEqual(marked(2, { rows: level, standardError: 0 }), []);
});

test("a rejected row is no reference", () => {
  assert.deepEqual(marked(0.1, { rows: [{ name: "broken", rejected: "NaN" }] }), []);
});
