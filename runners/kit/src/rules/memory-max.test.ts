import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemoryMeasurement } from "@mlrb/formats/judged/memory";
import { float32 } from "../safetensors/testing/safetensors-bytes.ts";
import { memoryMax } from "./memory-max.ts";
import type { RuleArguments } from "./rule-method.ts";
import { ruleProblems } from "./rule-methods.ts";
import { root, weights } from "./testing/weights.ts";

type Run = MemoryMeasurement["runs"][number];

const MB = 1e6;
const given = { bytes: 120 * MB, tokens: 2000, newTokens: 128 };
const admitted = weights({ w: float32([2, 2], [1, 2, 3, 4]) });

const peak = (megabytes: number): Run => ({
  end: "measured",
  atLeastBytes: megabytes * MB,
  atMostBytes: megabytes * MB,
});
const overLimit: Run = { end: "over-limit", atLeastBytes: 240 * MB, detail: "too much" };
const failedAt = (megabytes: number): Run => ({
  end: "failed",
  atLeastBytes: megabytes * MB,
  detail: "index 7",
});

function decide(runs: Run[], rule: RuleArguments = given, recipe: Partial<MemoryMeasurement> = {}) {
  const memory = [{ ...given, ...recipe, runs }];
  const context = {
    folder: root,
    weights: admitted,
    ledger: "none",
    budgetMs: 1,
    memory,
  };
  return memoryMax.decide!(context, rule);
}
const answers = (...runs: Run[]) => decide(runs).answer;

test("a peak beyond 5 % of the limit fails, one under it passes, and one between is open", () => {
  for (const [megabytes, answer] of [
    [113.9, "pass"],
    [114, "undecided"],
    [120, "undecided"],
    [126, "undecided"],
    [126.1, "fail"],
    [675, "fail"],
  ] as const)
    assert.equal(answers(peak(megabytes), peak(megabytes), peak(megabytes)), answer, `${megabytes} MB`);
});

test("one noisy run does not decide, whichever it is", () => {
  for (const noisy of [peak(500), overLimit, failedAt(0), failedAt(500)]) {
    assert.equal(answers(noisy, peak(100), peak(101)), "pass");
    assert.equal(answers(peak(100), peak(101), noisy), "pass");
  }
  assert.equal(answers(peak(10), peak(300), peak(301)), "fail");
});

test("a model that asks for more than the hard limit fails, with that evidence", () => {
  assert.deepEqual(decide([overLimit, overLimit, overLimit]), {
    answer: "fail",
    evidence:
      "net peak at least about 240 MB, median of 3 runs reading 2000 tokens and writing 128; " +
      'the limit is 120000000 bytes; "too much"',
  });
});

test("a run that failed is open, unless it held more than the limit before", () => {
  assert.equal(answers(failedAt(50), failedAt(50), peak(50)), "undecided");
  assert.equal(answers(failedAt(130), failedAt(130), peak(50)), "fail");
  assert.equal(answers(failedAt(130)), "fail");
  assert.equal(answers(failedAt(0)), "undecided");
});

test("repeated runs of one model give the same evidence", () => {
  const [one, other] = [97.12, 97.31].map((at) => decide([peak(at), peak(at), peak(at)]).evidence);
  assert.equal(one, other);
  assert.match(one!, /^net peak about 97 MB, median of 3 runs reading 2000 tokens and writing 128/);
});

test("a text of the submission is quoted and cut in the evidence", () => {
  const runs = [{ ...failedAt(1), detail: `</b>\n${"x".repeat(500)}` }];
  const { evidence } = decide(runs);
  assert.ok(evidence.length < 300 && !evidence.includes("\n"), evidence);
});

test("another recipe's measurement, none, and a submission that was not admitted leave the rule open", () => {
  const runs = [peak(1), peak(1), peak(1)];
  for (const recipe of [{ bytes: 1 }, { tokens: 1 }, { newTokens: 0 }])
    assert.equal(decide(runs, given, recipe).answer, "undecided");
  assert.equal(decide(runs, { bytes: given.bytes, tokens: 2000 }, { newTokens: 0 }).answer, "pass");
  assert.equal(decide([]).answer, "undecided");
  const nothing = { folder: root, weights: admitted, ledger: "none", budgetMs: 1 };
  assert.match(memoryMax.decide!(nothing, given).evidence, /was not measured/);
  assert.match(memoryMax.decide!({ ...nothing, weights: undefined }, given).evidence, /not admitted/);
});

test("a rule says bytes and tokens as whole numbers, and perhaps new tokens", () => {
  const rule = {
    name: "m",
    title: "t",
    source: "official",
    severity: "disqualify",
    method: "memory-max",
  } as const;
  const problems = (args: RuleArguments) => ruleProblems([{ ...rule, with: args }]);
  assert.deepEqual(problems({ bytes: 1, tokens: 1 }), []);
  assert.deepEqual(problems({ bytes: 1, tokens: 1, newTokens: 1 }), []);
  for (const args of [
    { bytes: 1.5, tokens: 3 },
    { bytes: 1 },
    { bytes: 1, tokens: 1, newTokens: 0 },
    { ...given, a: 1 },
  ])
    assert.match(problems(args)[0]!, /takes \{ bytes: whole number, tokens/);
});
