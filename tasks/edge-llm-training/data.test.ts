import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { makeData, readRows, sharedParagraphs } from "../testing/made-data.ts";
import { type Instruction, instructionPairs, instructionText } from "./instructions.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-edge-"));
const [first, second] = [join(temporary, "first"), join(temporary, "second")];
before(() => {
  for (const folder of [first, second]) {
    const made = makeData("edge-llm-training", { source: "smoke", folder });
    assert.equal(made.status, 0, made.stderr);
  }
});
after(() => rmSync(temporary, { recursive: true }));

const publicFiles = ["README.md", "instructions.jsonl", "train.jsonl"];
const heldOut = () =>
  readRows<{ id: string; group: string; text: string }>(join(first, "private/heldout.jsonl"));
const openPairs = () => readRows<Instruction>(join(first, "public/instructions.jsonl"));

test("two runs write the same bytes", () => {
  for (const file of [...publicFiles.map((name) => `public/${name}`), "private/heldout.jsonl"])
    assert.ok(readFileSync(join(first, file)).equals(readFileSync(join(second, file))), file);
});

test("the public data has the fields of C4 and Alpaca, and no other files", () => {
  assert.deepEqual(readdirSync(join(first, "public")).sort(), publicFiles);
  const fields = (file: string) => [
    ...new Set(readRows<object>(join(first, "public", file)).flatMap((row) => Object.keys(row).sort())),
  ];
  assert.deepEqual(fields("train.jsonl"), ["text"]);
  assert.deepEqual(fields("instructions.jsonl"), ["input", "instruction", "output"]);
});

test("no held-out text is in the public data", () => {
  const train = readRows<{ text: string }>(join(first, "public/train.jsonl"));
  const open = new Set(train.flatMap(({ text }) => text.split("\n")));
  const texts = heldOut().filter(({ group }) => group === "text");
  assert.deepEqual([train.length, texts.length], [400, 25]);
  for (const { id, text } of texts) assert.deepEqual(sharedParagraphs(text, open), [], id);
});

test("no held-out pair is in the public data in either phrasing", () => {
  const open = new Set(openPairs().map(({ input, output }) => `${input}\n${output}\n`));
  const pairs = heldOut().filter(({ group }) => group === "instructions");
  assert.deepEqual([openPairs().length, pairs.length], [1280, 120]);
  for (const { id, text } of pairs) assert.ok(!open.has(text.slice(text.indexOf("\n") + 1)), id);
});

test("families are held out equally often, and training has all their phrasings and words", () => {
  const { train, heldOut: hidden } = instructionPairs();
  const counts = new Map<string, number>();
  for (const { family } of hidden) counts.set(family, (counts.get(family) ?? 0) + 1);
  assert.deepEqual(
    [...counts.values()],
    Array.from({ length: 8 }, () => 15),
  );
  const words = new Set(train.flatMap((row) => instructionText(row).split(/[\s.,?]+/)));
  for (const { row } of hidden) {
    const unseen = instructionText(row)
      .split(/[\s.,?]+/)
      .filter((word) => !words.has(word) && !/^\d+$/.test(word));
    assert.deepEqual(unseen, []);
  }
});

test("the answers are right: sums add up and sorted words are sorted", () => {
  const { train } = instructionPairs();
  const sums = train.filter(({ output }) => output.includes(" plus "));
  assert.equal(sums.length, 160);
  for (const { input, output } of sums) {
    const [a = 0, b = 0] = input.split(" and ").map(Number);
    assert.equal(output, `${a} plus ${b} is ${a + b}.`);
  }
  const sorted = train.filter(({ instruction }) => /alphabetical|a to z/.test(instruction));
  assert.equal(sorted.length, 160);
  for (const { input, output } of sorted) assert.equal(output, input.split(", ").sort().join(", "));
});

test("an unknown kind of data is refused by name, and official data without its downloads", () => {
  const unknown = makeData("edge-llm-training", { source: "other", folder: join(temporary, "other") });
  assert.notEqual(unknown.status, 0);
  assert.match(
    unknown.stderr,
    /edge-llm-training: no data for source "other": only "smoke" and "official" are built so far/,
  );
  const made = makeData("edge-llm-training", { source: "official", folder: join(temporary, "official") });
  assert.notEqual(made.status, 0);
  assert.match(made.stderr, /official data is made of downloads: name their manifest/);
});
