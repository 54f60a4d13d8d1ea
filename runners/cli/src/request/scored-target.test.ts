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
    ...{ title: "T", label: "test", tasks: {}, agents: {}, primary: {}, floors: {} },
    ...{ scorers: {}, units: {}, directions: {}, digits: {} },
  };
  const report = { id: "report", axes: {}, stage: { publishes: true }, action: { params } };
  const instances = [attempt("minimal", 1), attempt("reference", 1), attempt("reference", 2), report];
  const named = (agent?: string, seed?: number) => {
    const found = scoredTarget({ instances } as unknown as Plan, { task: "letters", agent, seed });
    return "code" in found ? found.code : found.attempt.id;
  };
  assert.equal(named("reference", 2), "reference 2");
  assert.equal(named("of-another-plan", 1), "minimal 1");
  assert.equal(named(), "minimal 1");
});
