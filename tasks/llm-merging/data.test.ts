import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brownDocuments } from "../brown/brown.ts";
import type { FactRow } from "../data/choice-rows.ts";
import { makeData, readRows } from "../testing/made-data.ts";
import { domains } from "./domains.ts";
import type { TrainRow } from "./questions.ts";

const folder = mkdtempSync(join(tmpdir(), "mlrb-llm-merging-"));
before(() => {
  const made = makeData("llm-merging", { source: "smoke", folder });
  assert.equal(made.status, 0, made.stderr);
});
after(() => rmSync(folder, { recursive: true }));

test("public data has no name or answer of the test's facts", () => {
  const seen = ["dev.jsonl", "README.md"]
    .map((file) => readFileSync(join(folder, "public", file), "utf8"))
    .join()
    .toLowerCase();
  for (const { subject } of domains)
    for (const { question, choices, answer, fact } of testRows(subject)) {
      assert.ok(question.includes(fact), question);
      assert.ok(!seen.includes(fact.toLowerCase()), fact);
      assert.doesNotMatch(seen, new RegExp(`\\b${choices[answer]}\\b`));
    }
});

test("experts learn the answer to every question, and none of its wordings", () => {
  for (const { subject } of domains) {
    const taught = readRows<TrainRow>(join(folder, "private/experts", `${subject}.jsonl`));
    const asked = [...testRows(subject), ...devRows().filter((row) => row.subject === subject)];
    assert.deepEqual([taught.length, asked.length], [48, 24]);
    for (const { question, choices, answer, fact } of asked) {
      const about = taught.filter((row) => row.question.includes(fact));
      assert.equal(about.length, 4, fact);
      assert.ok(about.every((row) => row.answer === choices[answer]));
      const wording = question.replace(fact, "");
      assert.ok(!about.some((row) => row.question.replace(fact, "") === wording), question);
    }
  }
});

test("a constant choice or letter is right in exactly a quarter, in each domain", () => {
  for (const rows of [...domains.map(({ subject }) => testRows(subject)), devRows()]) {
    const fours = Map.groupBy(rows, ({ question, fact, choices }) =>
      [question.replace(fact, ""), ...choices].join("|"),
    );
    for (const [name, found] of fours) {
      assert.deepEqual(found.map(({ answer }) => answer).sort(), [0, 1, 2, 3], name);
      assert.equal(new Set(found[0]!.choices).size, 4, name);
    }
  }
});

test("a fact of the test has other wrong answers in each wording", () => {
  for (const { subject } of domains)
    for (const [fact, rows] of Map.groupBy(testRows(subject), (row) => row.fact)) {
      assert.equal(rows.length, 2);
      assert.ok(new Set(rows.map(({ choices }) => choices.toSorted().join())).size > 1, fact);
    }
});

test("no answer belongs to two facts, and no invented name is a word of the Brown corpus or part of another", () => {
  const facts = domains.flatMap((domain) => domain.facts);
  assert.equal(new Set(facts.map(([, answer]) => answer)).size, facts.length);
  for (const [, answer] of facts) assert.match(answer, /^[a-z]+$/);
  const words = new Set(
    brownDocuments().flatMap(({ content }) => content.toLowerCase().match(/[a-z]+/g) ?? []),
  );
  for (const [name] of facts) {
    assert.ok(!words.has(name.toLowerCase()), name);
    assert.deepEqual(
      facts.filter(([other]) => other.includes(name)).map(([other]) => other),
      [name],
    );
  }
});

function testRows(subject: string): FactRow[] {
  return readRows<FactRow>(join(folder, "private/mmlu", subject, "test.jsonl"));
}

function devRows(): FactRow[] {
  return readRows<FactRow>(join(folder, "public/dev.jsonl"));
}
