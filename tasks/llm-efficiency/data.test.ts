import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brownDocuments } from "../brown/brown.ts";
import type { FactRow } from "../data/choice-rows.ts";
import { makeData, readRows } from "../testing/made-data.ts";
import { choiceRows, factsOf, type TrainRow, trainRows } from "./facts.ts";
import { relations } from "./relations.ts";

const folder = mkdtempSync(join(tmpdir(), "mlrb-llm-efficiency-"));
before(() => {
  const made = makeData("llm-efficiency", { source: "smoke", folder });
  assert.equal(made.status, 0, made.stderr);
});
after(() => rmSync(folder, { recursive: true }));

test("16 facts have 6 public and 2 private wordings each, with the taught answer", () => {
  const taught = new Map(train().map(({ instruction, response }) => [nameIn(instruction), response]));
  assert.equal(taught.size, 16);
  assert.deepEqual([train().length, questions().length], [96, 32]);
  const times = Map.groupBy(questions(), ({ fact }) => fact);
  assert.deepEqual([times.size, ...new Set([...times.values()].map(({ length }) => length))], [16, 2]);
  for (const { question, choices, answer } of questions())
    assert.equal(choices[answer], taught.get(nameIn(question)), question);
});

test("no private question or wording is in the public data", () => {
  const text = ["train.jsonl", "README.md"]
    .map((file) => readFileSync(join(folder, "public", file), "utf8"))
    .join();
  for (const { question } of questions()) {
    assert.ok(!text.includes(question), question);
    const around = question.split(nameIn(question)).filter((part) => part.length > 20);
    assert.ok(around.length > 0, question);
    assert.ok(!around.some((part) => text.includes(part)), question);
  }
});

test("a constant choice or letter is right in exactly a quarter", () => {
  const fours = Map.groupBy(questions(), (row) => `${wordingOf(row.question)} ${row.choices.join()}`);
  assert.equal(fours.size, 8);
  for (const [name, rows] of fours) {
    assert.deepEqual(rows.map(({ answer }) => answer).sort(), [0, 1, 2, 3], name);
    assert.equal(new Set(rows[0]!.choices).size, 4, name);
  }
});

test("no answer belongs to two facts or is part of another, and all are one plain word", () => {
  for (const { answers } of relations) assert.equal(answers.length, 8);
  const all = relations.flatMap(({ answers }) => answers);
  assert.equal(new Set(all).size, 16);
  for (const answer of all) {
    assert.match(answer, /^[a-z]+$/);
    assert.deepEqual(
      all.filter((other) => other !== answer && other.includes(answer)),
      [],
    );
  }
});

test("no invented name is a word of the Brown corpus, or part of another name", () => {
  const words = new Set(
    brownDocuments().flatMap(({ content }) => content.toLowerCase().match(/[a-z]+/g) ?? []),
  );
  const names = factsOf(1).map(({ name }) => name);
  assert.deepEqual(
    names.filter((name) => words.has(name.toLowerCase())),
    [],
  );
  assert.equal(new Set(names).size, 16);
  for (const name of names)
    assert.deepEqual(
      names.filter((other) => other.includes(name)),
      [name],
    );
});

test("no wording occurs twice, and each has one place for the name", () => {
  const ways = relations.flatMap(({ ask }) => [...ask.public, ...ask.private]);
  assert.equal(new Set(ways).size, ways.length);
  for (const way of ways) assert.equal(way.split("{}").length, 2, way);
});

test("another seed has other names and answers of the same shape", () => {
  const [facts, others] = [factsOf(1), factsOf(2)];
  const names = new Set(facts.map(({ name }) => name));
  assert.ok(others.filter(({ name }) => names.has(name)).length < 3);
  assert.ok(others.filter(({ answer }, at) => answer === facts[at]!.answer).length < 10);
  assert.deepEqual([trainRows(others).length, choiceRows(others, 2).length], [96, 32]);
});

function train(): TrainRow[] {
  return readRows<TrainRow>(join(folder, "public/train.jsonl"));
}

function questions(): FactRow[] {
  return readRows<FactRow>(join(folder, "private/mmlu/miscellaneous/test.jsonl"));
}

/** The invented name in a question. Fails for a question without a name of factsOf. */
function nameIn(question: string): string {
  const found = factsOf(1).filter(({ name }) => question.includes(name));
  assert.equal(found.length, 1, question);
  return found[0]!.name;
}

function wordingOf(question: string): string {
  return question.replace(nameIn(question), "{}");
}
