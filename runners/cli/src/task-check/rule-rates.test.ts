import assert from "node:assert/strict";
import { test } from "node:test";
import type { RuleAnswer, VerdictKind } from "@mlrb/formats/judged/verdict";
import { type CheckedRule, type Judged, ruleRates, thinEvidence, unmetExpectations } from "./rule-rates.ts";

const leak: CheckedRule = { name: "no-look-ahead", method: "no-look-ahead", severity: "strike" };
const size: CheckedRule = { name: "size", method: "parameters-max", severity: "note" };

function judged(
  kind: Judged["kind"],
  answer: RuleAnswer,
  more: Partial<Judged> & { as?: VerdictKind } = {},
): Judged {
  const { as = "pass", ...fields } = more;
  const rule = {
    rule: leak.name,
    title: "",
    answer,
    evidence: "seen",
    source: "official",
    severity: "strike",
  } as const;
  return {
    name: `a ${kind}`,
    kind,
    rules: [leak.method],
    heldOut: false,
    verdict: { kind: as, rules: [rule] },
    ...fields,
  };
}

const many = (count: number, one: Judged) => Array.from({ length: count }, () => one);

test("a false alarm is an honest model or a near-miss that breaks the rule; undecided ones are counted apart", () => {
  const models = [
    judged("honest", "pass", { heldOut: true }),
    judged("near-miss", "fail"),
    judged("honest", "undecided"),
    judged("cheat", "fail"),
  ];
  const [rates] = ruleRates([leak], models);
  assert.deepEqual([rates!.falseAlarms.events, rates!.falseAlarms.trials, rates!.undecided], [1, 2, 1]);
  assert.deepEqual([rates!.heldOut.events, rates!.heldOut.trials], [0, 1]);
  assert.deepEqual([rates!.stopped.events, rates!.stopped.trials], [1, 1]);
});

test("an answer that is undecided only for want of a measurement counts as broken", () => {
  const broken = (kind: Judged["kind"]) => {
    const one = judged(kind, "undecided");
    one.verdict.rules[0]!.notMeasured = true;
    return one;
  };
  const models = [broken("honest"), broken("cheat")];
  const [rates] = ruleRates([leak], models);
  assert.deepEqual([rates!.falseAlarms.events, rates!.undecided, rates!.stopped.events], [1, 0, 1]);
  assert.equal(unmetExpectations([leak], models).length, 1, "only the honest one");
});

test("a model counts only for the rules that it names", () => {
  const [, rates] = ruleRates([leak, size], many(80, judged("honest", "pass")));
  assert.deepEqual([rates!.falseAlarms.trials, rates!.falseAlarms.interval], [0, undefined]);
});

test("72 honest models without a false alarm make a strike defensible, and one alarm among them does not", () => {
  const needed = (models: Judged[]) => ruleRates([leak], models)[0]!.needed;
  assert.equal(needed(many(72, judged("honest", "pass"))), 0);
  assert.equal(needed(many(71, judged("honest", "pass"))), 1);
  assert.equal(needed([]), 72);
  assert.equal(needed([...many(71, judged("honest", "pass")), judged("honest", "fail")]), 38);
});

test("an honest model that breaks a rule or is rejected is unmet, and so is a cheat that breaks none", () => {
  const models = [
    judged("honest", "fail"),
    judged("near-miss", "pass", { as: "rejected" }),
    judged("cheat", "undecided"),
    judged("cheat", "undecided", { as: "rejected" }),
    judged("cheat", "fail", { as: "struck" }),
    judged("honest", "undecided"),
  ];
  assert.deepEqual(unmetExpectations([leak], models), [
    "a honest is honest, and breaks no-look-ahead: seen",
    "a near-miss is honest, and is rejected",
    "a cheat is a cheat, and no-look-ahead answers undecided",
  ]);
});

test("a strike with a bound over 5 % and a rule with fewer than three cheats are warnings", () => {
  const few = [...many(10, judged("honest", "pass")), ...many(2, judged("cheat", "fail"))];
  assert.deepEqual(thinEvidence(ruleRates([leak], few)), [
    "no-look-ahead has the severity strike, and its rate of false alarms may be 30.8 %: 62 more honest models without one are needed for 5.0 %",
    "no-look-ahead: 2 of 3 cheats that it needs",
  ]);
  const enough = [...many(72, judged("honest", "pass")), ...many(3, judged("cheat", "fail"))];
  assert.deepEqual(thinEvidence(ruleRates([leak], enough)), []);
  assert.deepEqual(thinEvidence(ruleRates([size], [])), ["size: 0 of 3 cheats that it needs"]);
});
