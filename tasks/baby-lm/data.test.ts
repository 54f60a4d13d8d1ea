import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { makeData, readRows, sharedParagraphs } from "../testing/made-data.ts";
import type { Pair } from "./house-pairs.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-baby-lm-"));
const [first, second] = [join(temporary, "first"), join(temporary, "second")];
before(() => {
  for (const folder of [first, second]) {
    const made = makeData("baby-lm", { source: "smoke", folder });
    assert.equal(made.status, 0, made.stderr);
  }
});
after(() => rmSync(temporary, { recursive: true }));

test("two runs write the same bytes", () => {
  for (const file of [
    "public/train.jsonl",
    "public/README.md",
    "private/heldout.jsonl",
    "private/pairs.jsonl",
  ])
    assert.ok(readFileSync(join(first, file)).equals(readFileSync(join(second, file))), file);
});

test("no held-out text is in the public data", () => {
  const train = lines<{ filename: string; content: string }>("public/train.jsonl");
  const heldOut = lines<{ id: string; text: string }>("private/heldout.jsonl");
  assert.deepEqual([train.length, heldOut.length], [400, 25]);
  const names = new Set(train.map(({ filename }) => filename));
  const paragraphs = new Set(train.flatMap(({ content }) => content.split("\n")));
  for (const { id, text } of heldOut) {
    assert.ok(!names.has(id), id);
    assert.deepEqual(sharedParagraphs(text, paragraphs), [], id);
    assert.equal(Buffer.byteLength(text), 1024, id);
  }
});

test("the public text has no part-of-speech tag", () => {
  for (const { filename, content } of lines<{ filename: string; content: string }>("public/train.jsonl"))
    assert.doesNotMatch(content, /[a-z]\/(nn|at|in|vbd|jj|np|cc)\b/, filename);
});

test("every word of the house pairs occurs at least ten times in the public text", () => {
  const counts = new Map<string, number>();
  const text = readFileSync(join(first, "public/train.jsonl"), "utf8").toLowerCase();
  for (const [word] of text.matchAll(/[a-z]+/g)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const words = new Set(pairs().flatMap((pair) => wordsOf(pair.sentence_good.toLowerCase())));
  assert.deepEqual(
    [...words].filter((word) => (counts.get(word) ?? 0) < 10),
    [],
  );
});

test("a house pair differs in exactly one word, occurs once, and is not in the public text", () => {
  const text = readFileSync(join(first, "public/train.jsonl"), "utf8");
  const seen = new Set<string>();
  for (const { sentence_good: good, sentence_bad: bad } of pairs()) {
    const [right, wrong] = [wordsOf(good), wordsOf(bad)];
    assert.equal(right.length, wrong.length, good);
    assert.equal(right.filter((word, at) => word !== wrong[at]).length, 1, `${good} / ${bad}`);
    assert.ok(!seen.has(good + bad), good);
    assert.ok(!text.includes(good), good);
    seen.add(good + bad);
  }
});

test("twelve paradigms have forty pairs each, half of them with right and wrong swapped", () => {
  const byParadigm = Map.groupBy(pairs(), ({ UID }) => UID);
  assert.equal(byParadigm.size, 12);
  for (const [name, members] of byParadigm) {
    assert.equal(members.length, 40, name);
    const [first, second] = [members.slice(0, 20), members.slice(20)].map((half) => half.map(contrast));
    assert.equal(new Set(first).size, 1, name);
    assert.equal(new Set(second).size, 1, name);
    // "ever" is not swapped: the other word is "the" in one half and "never" in the other
    const exchanged = name === "ever_after_no" ? "never|ever" : first?.[0]?.split("|").reverse().join("|");
    assert.equal(second?.[0], exchanged);
  }
});

test("an unknown kind of data is refused by name, and official data without its downloads", () => {
  const unknown = makeData("baby-lm", { source: "other", folder: join(temporary, "other") });
  assert.notEqual(unknown.status, 0);
  assert.match(
    unknown.stderr,
    /baby-lm: no data for source "other": only "smoke" and "official" are built so far/,
  );
  const made = makeData("baby-lm", { source: "official", folder: join(temporary, "official") });
  assert.notEqual(made.status, 0);
  assert.match(made.stderr, /official data is made of downloads: name their manifest/);
});

function lines<T>(file: string): T[] {
  return readRows<T>(join(first, file));
}

function pairs(): Pair[] {
  return lines<Pair>("private/pairs.jsonl");
}

function wordsOf(sentence: string): string[] {
  return sentence.replace(".", "").split(" ");
}

/** The right and the wrong word, e.g. `was|were`. */
function contrast({ sentence_good, sentence_bad }: Pair): string {
  const wrong = wordsOf(sentence_bad.toLowerCase());
  const right = wordsOf(sentence_good.toLowerCase());
  const at = right.findIndex((word, place) => word !== wrong[place]);
  return `${right[at]}|${wrong[at]}`;
}
