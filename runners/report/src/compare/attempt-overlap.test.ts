import assert from "node:assert/strict";
import { test } from "node:test";
import type { Overlap } from "@mlrb/formats/judged/overlap";
import { latexText } from "../formats/latex-text.ts";
import { markdown } from "../formats/markdown.ts";
import { csvRows } from "../testing/csv-rows.ts";
import { Example, passed, scored, textItems } from "../testing/example.ts";

const measure = { n: 8, wordsMin: 6, rowsMax: 10, normalisation: "letters-and-digits", share: 0.5 } as const;
const honest: Overlap = {
  ...{ formatVersion: 1, measure, rows: { all: 60, tested: 50, touched: 0, found: 0 } },
  ...{ places: [], placesMore: 0, unread: [], unreadMore: 0, downloads: { files: 0, read: 0 } },
};
const copied: Overlap = {
  ...honest,
  rows: { all: 60, tested: 50, touched: 21, found: 20 },
  places: [
    { kind: "workspace", place: "workspace/a|b\n.py", ngrams: 300, rows: 19 },
    { kind: "trajectory", place: "12", ngrams: 20, rows: 1 },
  ],
  unread: [{ place: "home/x.7z", why: "a compressed format that cannot be opened here" }],
  downloads: { files: 4, read: 1 },
};

function reported(overlap?: object | string) {
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const example = new Example()
    .gives("attempt", axes, { submission: "sha256:x" })
    .gives("validate", axes, passed)
    .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2.5)));
  if (overlap) example.gives("overlap", axes, { overlap });
  const report = example.report();
  return { report, text: markdown(report), row: csvRows(report, "attempts")[0]! };
}

test("an attempt that held scored rows is marked, with places, and no number changes", () => {
  const { report, text, row } = reported(copied);
  assert.match(text, /≈ 20 of 50 tested scored rows in what it held, see Overlap/);
  assert.match(text, /1 attempt held scored rows \(≈\)\./);
  assert.match(
    text,
    /20 of 50.*\| 21 \| workspace: workspace\/a\\\|b \.py, and 1 more place \| home\/x\.7z: .*; 3 of 4 downloads/,
  );
  const { report: without } = reported();
  assert.deepEqual(report.cells, without.cells);
  assert.deepEqual(report.attempts[0]!.verdict, without.attempts[0]!.verdict);
  assert.deepEqual(
    [row.overlap_rows, row.overlap_touched, row.overlap_tested, row.overlap_unread, row.overlap_reason],
    ["20", "21", "50", "1", ""],
  );
});

test("an attempt without scored rows has no mark, and its counts and the rate of false alarms are shown", () => {
  const { text } = reported(honest);
  assert.doesNotMatch(text, /≈ \d/);
  assert.match(text, /\| 0 of 50 \| 0 \|/);
  assert.match(text, /False alarms.* honest attempts are marked/);
});

test("an overlap that was not measured is said, and a pipeline without the stage has no section", () => {
  const { text, row } = reported("{");
  assert.match(text, /not measured: unreadable overlap/);
  assert.match(row.overlap_reason!, /^unreadable overlap/);
  assert.doesNotMatch(reported().text, /Overlap/);
});

test("LaTeX prints the marks of attempts", () => {
  for (const mark of ["≈", "◇"]) assert.doesNotMatch(latexText(mark), /U\+/);
});
