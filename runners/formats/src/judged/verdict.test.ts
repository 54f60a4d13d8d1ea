import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readFormat } from "../read-format.ts";
import { kinship, upgradedKinship } from "./kinship.ts";
import { kindOfRules, type RuleAnswer, upgradedVerdict, verdict } from "./verdict.ts";

const stored = (name: string) => readFileSync(join(import.meta.dirname, "../../fixtures", name), "utf8");

test("in a stored verdict of version 1, cannot-tell reads as undecided, and so does the attempt", () => {
  const read = readFormat(verdict, upgradedVerdict(stored("verdict-1.json")));
  assert(read.kind === "ok", JSON.stringify(read));
  const { kind, rules, facts } = read.value;
  assert.deepEqual([kind, rules.map(({ answer }) => answer)], ["undecided", ["pass", "undecided"]]);
  const former = JSON.parse(stored("verdict-1.json"));
  assert.deepEqual([facts, rules[1]!.evidence], [former.facts, former.rules[1].evidence]);
});

test("in a verdict of version 1, an undecided note leaves a pass, and a disqualified attempt stays one", () => {
  const former = JSON.parse(stored("verdict-1.json"));
  const kindOf = (changes: object, severity: string) => {
    const rules = [{ ...former.rules[1], severity }];
    return JSON.parse(upgradedVerdict(JSON.stringify({ ...former, rules, ...changes }))).kind;
  };
  assert.equal(kindOf({}, "note"), "pass");
  assert.equal(kindOf({ kind: "struck" }, "strike"), "struck");
  assert.equal(kindOf({ kind: "rejected" }, "strike"), "rejected");
});

test("the rules of all attempts of version 1 read as those of version 2", () => {
  const read = readFormat(kinship, upgradedKinship(stored("kinship-1.json")));
  assert.equal(read.kind === "ok" && read.value.attempts[0]!.rules[0]!.answer, "undecided");
});

test("text of no known version is left as it is", () => {
  for (const text of ["", "{", '{"formatVersion":3}', '{"formatVersion":1,"kind":"fine"}']) {
    assert.equal(upgradedVerdict(text), text);
    assert.equal(upgradedKinship(text), text);
  }
});

test("one failed strike disqualifies, one undecided strike leaves the attempt undecided, notes do nothing", () => {
  const kindOf = (...answers: RuleAnswer[]) =>
    kindOfRules(answers.map((answer) => ({ answer, severity: "strike" })));
  assert.equal(kindOf("pass", "undecided", "fail"), "struck");
  assert.equal(kindOf("pass", "undecided"), "undecided");
  assert.equal(kindOf("pass"), "pass");
  assert.equal(kindOf(), "pass");
  for (const answer of ["fail", "undecided"] as const)
    assert.equal(kindOfRules([{ answer, severity: "note" }]), "pass");
});
