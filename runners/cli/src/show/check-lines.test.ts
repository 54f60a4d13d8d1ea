import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Plan } from "@mlrb/core/plan/plan";
import { memorySources, repository } from "@mlrb/core/testing/memory-sources";
import { checkedBefore, checkLines } from "./check-lines.ts";

const text = `formatVersion: 1
name: test
axes: { task: [reading, writing], seed: [1, 2] }
stages:
  check:
    each: [task]
    when: "{task.expected.smoke}"
    script: steps/a.ts
    params: { expected: "{task.expected.smoke}" }
    gives: { text: file }
  attempt: { each: [task, seed], startAfter: [check], needsCheck: true, durable: true, script: steps/a.ts }
`;
const file = "pipelines/test.yaml";

/** The task reading expects something of a model, and writing nothing. */
function planOf(skipChecks = false, set: Record<string, string[]> = {}): Plan {
  const path = "tasks/reading/task.yaml";
  const expected = `references: { smoke: [{ name: phi, title: Phi, model: "given:phi" }], official: [] }
expected: { smoke: { accuracy: { phi: { kind: range, low: 0.5, high: 0.6, source: a paper } } }, official: {} }
`;
  const sources = memorySources({ ...repository, [file]: text, [path]: repository[path]! + expected });
  const result = loadPlan({ file, skipChecks, set }, sources, ["local"]);
  if ("problems" in result) throw new Error(result.problems.map(({ message }) => message).join("\n"));
  return result.plan;
}

test("a plan says what is expected of each model, where nothing is checked, and what a miss means", () => {
  const plan = planOf();
  assert.deepEqual(checkLines(plan, plan.instances), [
    "attempts start after a check of reference models on this host:",
    "  check[task=reading]: phi (accuracy): 0.5 to 0.6",
    "  check[task=writing]: no reference model is declared; the attempts there start after all checks",
    "  where a model misses its value, no attempt starts, nor one without a check of its own; other tasks go on. --skip-reference-models leaves the checks out, and the tables then say so",
  ]);
});

test("a plan without checks says how many attempts would start without one, also those that would wait for others'", () => {
  const plan = planOf(true);
  assert.deepEqual(checkLines(plan, plan.instances), [
    "4 attempts would start without a check of reference models (--skip-reference-models); the tables say so",
  ]);
  assert.deepEqual(checkedBefore(plan, plan.instances), {
    first: [],
    skipped: 4,
    without: ["check[task=writing]"],
  });
});

test("a plan without any reference model says so, with and without --skip-reference-models", () => {
  for (const skipChecks of [false, true]) {
    const plan = planOf(skipChecks, { task: ["writing"] });
    assert.deepEqual(checkLines(plan, plan.instances), [
      "check[task=writing]: no reference model is declared; the attempts there start without a check, and the tables say so",
    ]);
    const without = ["check[task=writing]"];
    assert.deepEqual(checkedBefore(plan, plan.instances), { first: [], skipped: 0, without });
  }
});

test("attempts that are reused are not counted", () => {
  assert.deepEqual(checkLines(planOf(), []), []);
  assert.deepEqual(checkLines(planOf(true), []), []);
});
