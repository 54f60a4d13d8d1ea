import assert from "node:assert/strict";
import { test } from "node:test";
import { json } from "../formats/json.ts";
import { markdown } from "../formats/markdown.ts";
import { terminalTable } from "../formats/terminal-table.ts";
import { csvText } from "../testing/csv-rows.ts";
import { Example, passed, scored, textItems } from "../testing/example.ts";
import { latex } from "../testing/latex.ts";

function report(label: string, published?: unknown) {
  const axes = { task: "letters", agent: "plain", seed: 1 };
  return new Example({ label, ...(published === undefined ? {} : { published }) })
    .gives("attempt", axes, { submission: "sha256:x" })
    .gives("validate", axes, passed)
    .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2)))
    .report();
}

test("published values are shown with their n and source next to official numbers, in every format", () => {
  const found = report("official");
  assert.deepEqual(found.published, [
    { task: "letters", metric: "bits", who: "Someone", value: 2.1, n: 4, note: "of 5", source: "a paper" },
  ]);
  for (const text of [markdown(found), terminalTable(found, { width: 120, color: false })]) {
    assert.match(text, /2\.100 \(n 4\) Someone/);
    assert.match(text, /of 5: a paper/);
    assert.match(text, /measured by\s+others/);
  }
  assert.match(latex(found), /2\.100 \(n 4\) Someone/);
  assert.match(json(found), /"source": "a paper"/);
});

test("published values are never shown with other data than official data", () => {
  const published = (kind: string) => ({
    letters: { [kind]: { bits: [{ who: "Someone", value: 2.1, source: "a paper" }] } },
  });
  for (const found of [
    report("smoke"),
    report("smoke", published("smoke")),
    report("mine", published("mine")),
  ]) {
    assert.deepEqual(found.published, []);
    for (const text of [markdown(found), latex(found), csvText(found), json(found)])
      assert.doesNotMatch(text, /Someone/);
    assert.doesNotMatch(markdown(found), /\| published \|/);
  }
});

test("a published value without n is marked", () => {
  const published = { letters: { official: { bits: [{ who: "Someone", value: 2.1, source: "a paper" }] } } };
  assert.match(markdown(report("official", published)), /2\.100 \(n not given\) Someone/);
});

test("published values without a source, or with a text for a number, throw", () => {
  for (const wrong of [
    { who: "Someone", value: 2.1 },
    { who: "Someone", value: "2.1", source: "a paper" },
  ])
    assert.throws(
      () => report("official", { letters: { official: { bits: [wrong] } } }),
      /published\.letters\.official\.bits\.0\.(source is missing|value is "2\.1", not a finite number)/,
    );
});
