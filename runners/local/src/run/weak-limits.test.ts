import assert from "node:assert/strict";
import { test } from "node:test";
import { smallPlan } from "../testing/small-plan.ts";
import type { Result } from "./result.ts";
import { mayRunWeakly } from "./weak-limits.ts";

/** A score of an attempt, with a stage between them. */
function scored(params: Record<string, string | boolean | Record<string, boolean>>) {
  return smallPlan(
    { name: "attempt", untrusted: true, durable: true, action: { params } },
    { name: "checkpoint", opens: "untrusted", needs: { submission: "attempt.out" } },
    { name: "score", opens: "untrusted", needs: { model: "checkpoint.out" } },
    { name: "gather", opens: "untrusted", collect: ["score.out", "attempt.out"] },
  );
}

const result = (kind: "reused" | "succeeded") => ({ outcome: { kind }, outputs: {} }) as Result;

test("files of a trusted preset may be opened under weak limits, whatever the preset is called", () => {
  const plan = scored({ preset: { trusted: true } });
  for (const at of [1, 2, 3]) assert.equal(mayRunWeakly(plan.instances[at]!, { plan, results: [] }), true);
  const named = scored({ preset: { trusted: false }, agent: "script-weak", kind: "command" });
  for (const at of [1, 2, 3]) {
    const instance = named.instances[at]!;
    assert.equal(mayRunWeakly(instance, { plan: named, results: [result("succeeded")] }), false);
  }
});

test("files of an attempt that was recorded before this run may be opened under weak limits", () => {
  const plan = scored({ kind: "command" });
  const score = plan.instances[2]!;
  assert.equal(mayRunWeakly(score, { plan, results: [result("reused")] }), true);
  assert.equal(mayRunWeakly(score, { plan, results: [result("succeeded")] }), false);
  assert.equal(mayRunWeakly(score, { plan, results: [], unsafeLocal: true }), true);
});

test("a folder that a person gives to score may not, although the plan's agent is trusted", () => {
  const plan = scored({ trusted: true });
  const given = new Map([[0, result("reused")]]);
  assert.equal(mayRunWeakly(plan.instances[2]!, { plan, given, results: [result("reused")] }), false);
});

test("an imported record may not, whatever its preset says: anyone may have written it", () => {
  const imported = { ...result("reused"), record: { origin: { archive: "a" } } } as unknown as Result;
  for (const params of [{ kind: "command" }, { preset: { trusted: true } }]) {
    const plan = scored(params);
    assert.equal(mayRunWeakly(plan.instances[2]!, { plan, results: [imported] }), false);
    assert.equal(mayRunWeakly(plan.instances[2]!, { plan, results: [imported], unsafeLocal: true }), true);
  }
});
