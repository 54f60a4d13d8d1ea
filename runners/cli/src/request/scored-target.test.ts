import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan } from "@mlrb/core/plan/plan";
import { scoredTarget } from "./scored-target.ts";

test("a submission is scored under the name of its agent and seed where the plan has them", () => {
  const attempt = (agent: string, seed: number) => ({
    id: `${agent} ${seed}`,
    axes: { task: "letters", agent, seed },
    stage: { durable: true, gives: [{ name: "submission", kind: "dir" }] },
  });
  const params = {
    ...{ title: "T", label: "test", tasks: {}, agents: {}, primary: {}, baselines: {} },
    ...{ scorers: {}, units: {}, directions: {}, digits: {} },
  };
  const report = { id: "report", axes: {}, stage: { publishes: true }, action: { params } };
  const instances = [
    attempt("script-weak", 1),
    attempt("script-strong", 1),
    attempt("script-strong", 2),
    report,
  ];
  const named = (agent?: string, seed?: number) => {
    const found = scoredTarget({ instances } as unknown as Plan, { task: "letters", agent, seed });
    return "code" in found ? found.code : found.attempt.id;
  };
  assert.equal(named("script-strong", 2), "script-strong 2");
  assert.equal(named("of-another-plan", 1), "script-weak 1");
  assert.equal(named(), "script-weak 1");
});
