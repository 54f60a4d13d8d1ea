import assert from "node:assert/strict";
import { test } from "node:test";
import { kindOfRules, type RuleAnswer } from "./verdict.ts";

test("one failed disqualifying rule disqualifies, one undecided disqualifying rule leaves the attempt undecided, notes do nothing", () => {
  const kindOf = (...answers: RuleAnswer[]) =>
    kindOfRules(answers.map((answer) => ({ answer, severity: "disqualify" })));
  assert.equal(kindOf("pass", "undecided", "fail"), "disqualified");
  assert.equal(kindOf("pass", "undecided"), "undecided");
  assert.equal(kindOf("pass"), "pass");
  assert.equal(kindOf(), "pass");
  for (const answer of ["fail", "undecided"] as const)
    assert.equal(kindOfRules([{ answer, severity: "note" }]), "pass");
});
