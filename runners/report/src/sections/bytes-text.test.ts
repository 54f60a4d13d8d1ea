// A metric of bytes is stored in bytes and printed in a larger unit, so every printed number must have its unit.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Times } from "@mlrb/formats/times";
import { costTable } from "../paper/costs.ts";
import { Example, passed, referenceRows, rejectedScore, scored } from "../testing/example.ts";
import { checkpointsSection } from "./checkpoints-section.ts";
import { resultsSection } from "./results-section.ts";
import { rowsSection } from "./rows-section.ts";
import type { Section } from "./table.ts";

const axes = { task: "letters", agent: "plain", seed: 1 };

function inBytes(bytes: number, params: Record<string, unknown> = {}): Example {
  const { score, samples } = scored("bits", [{ id: "a", value: bytes, weight: 1 }], 0);
  const units = { bits: "bytes", pairs: "share of pairs", right: "share of answers" };
  const digits = { bits: 0, pairs: 3, right: 3 };
  const example = new Example({ units, digits, ...params });
  return example
    .gives("attempt", axes, { submission: "sha256:1" })
    .gives("validate", axes, passed)
    .gives("score", { ...axes, scorer: "bits" }, { score: { ...score, unit: "bytes" }, samples });
}

function withRows(example: Example, bytes: number): Example {
  const rows = [
    { name: "unigram", value: 900e6 },
    { name: "bigram", value: bytes },
    { name: "trigram", value: 48.1e6 },
  ];
  return example.gives("references", { task: "letters", scorer: "bits" }, referenceRows("bits", rows));
}

const texts = ({ tables }: Section, at = 0) =>
  tables[at]!.groups.flatMap(({ rows }) => rows.map((row) => row.map(({ lines }) => lines.join("; "))));

test("means that are printed with other digits of the larger unit are not called equal", () => {
  const [, bigram] = texts(rowsSection(withRows(inBytes(492.4e6), 491.6e6).report()));
  assert.deepEqual(bigram, ["bits, MB ↓", "bigram (reference model)", "491.6", "0.8 worse"]);
  const [, same] = texts(rowsSection(withRows(inBytes(491.6e6), 491.6e6).report()));
  assert.equal(same!.at(-1), "equal");
});

test("the score in the table of costs has its unit, since no head names the metric", () => {
  const report = inBytes(492.4e6).planned({ condition: "open", budget: {} }).report();
  const times: Times = { formatVersion: 1, label: "official", attempts: [] };
  const { columns, groups } = costTable(report, times).table;
  const at = columns.findIndex(({ head }) => head === "Score");
  assert.deepEqual(groups[0]!.rows[0]![at]!.lines, ["492 MB (1/1)"]);
});

test("a published value in a sentence has its unit, and in a column whose head names it none", () => {
  const bits = [{ who: "Someone", value: 516e6, n: 4, note: "of 5", source: "a paper" }];
  const published = { letters: { official: { bits } }, numbers: null };
  const section = resultsSection(inBytes(492.4e6, { label: "official", published }).report());
  assert.equal(texts(section)[0]!.at(-1), "516 (n 4) Someone");
  assert.equal(section.items.at(-1)!.text, "bits 516 MB (n 4) Someone, of 5: a paper");
});

test("the score of a checkpoint before a rejection has its unit in the sentence", () => {
  const example = inBytes(492.4e6);
  const then = { ...axes, checkpoint: "75%" };
  const found = example.members.splice(1); // the verdict and the score are those of the checkpoint
  const score = example.texts.get(found[1]!.artifacts.score!.path!)!;
  const samples = example.texts.get(found[1]!.artifacts.samples!.path!)!;
  assert.ok(score.kind === "ok" && samples.kind === "ok");
  const scoreFile = { score: score.value, samples: samples.value };
  const rejected = rejectedScore("bits", "not admitted: cut off");
  const report = example
    .gives("validate", axes, { verdict: { formatVersion: 1, kind: "rejected", rules: [], facts: {} } })
    .gives("score", { ...axes, scorer: "bits" }, { ...rejected, score: { ...rejected.score, unit: "bytes" } })
    .gives("checkpoint", then, {
      contents: "sha256:good",
      checkpoint: {
        formatVersion: 1,
        stood: { kind: "snapshot", name: "0001" },
        admitted: true,
        reasons: [],
      },
    })
    .gives("checkpoint-score", { ...then, scorer: "bits" }, scoreFile)
    .report();
  assert.match(checkpointsSection(report).items[0]!.text, / at 75% 492 MB; they do not count/);
});

test("what is expected of a reference model in bytes is next to its value in bytes, under a head that says so", () => {
  const expected = { letters: { bits: { bigram: { kind: "range", low: 1, high: 2e6 } } }, numbers: null };
  const section = rowsSection(
    withRows(inBytes(492.4e6, { label: "official", expected }), 2_000_258).report(),
  );
  assert.deepEqual(texts(section, 1)[0], ["bits, bytes ↓", "bigram", "2000258", "1 to 2000000", "missed"]);
  assert.equal(section.items.at(-1)!.text, "bits, bytes: missed: 1 to 2000000 expected");
});
