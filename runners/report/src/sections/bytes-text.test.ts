// A metric of bytes is stored in bytes and printed in a larger unit, so every printed number must have its unit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { anchorRows, Example, passed, scored } from "../testing/example.ts";
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
  return example.gives("anchors", { task: "letters", scorer: "bits" }, anchorRows("bits", rows));
}

const texts = ({ tables }: Section, at = 0) =>
  tables[at]!.groups.flatMap(({ rows }) => rows.map((row) => row.map(({ lines }) => lines.join("; "))));

test("means that are printed with other digits of the larger unit are not called equal", () => {
  const [, bigram] = texts(rowsSection(withRows(inBytes(492.4e6), 491.6e6).report()));
  assert.deepEqual(bigram, ["bits, MB ↓", "bigram (reference model)", "491.6", "0.8 worse"]);
  const [, same] = texts(rowsSection(withRows(inBytes(491.6e6), 491.6e6).report()));
  assert.equal(same!.at(-1), "equal");
});
