import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { executorNames } from "../run/executors.ts";
import { notYetProblem } from "./not-yet-gate.ts";

const repository = join(import.meta.dirname, "../../../..");

function planOf(profile: string) {
  const asked = { file: "pipelines/full-benchmark.yaml", profile, set: {}, executor: undefined };
  const loaded = loadPlan(asked, sourceFiles(repository), executorNames);
  assert.ok(!("problems" in loaded));
  return loaded.plan;
}

const started = (plan: ReturnType<typeof planOf>, durable: boolean) =>
  plan.instances
    .filter(({ stage }) => stage.durable === durable)
    .map(({ index }) => ({ index, action: "run" as const }));

for (const profile of ["paper", "h100-10h", "shakedown"])
  test(`a run of ${profile} that would start an attempt is refused, and its other stages may run`, () => {
    const plan = planOf(profile);
    const problem = notYetProblem({ plan }, started(plan, true));
    assert.match(problem?.message ?? "", new RegExp(`^profile "${profile}" starts no attempt yet: .*phi-2`));
    assert.equal(notYetProblem({ plan }, started(plan, false)), undefined);
    const reused = started(plan, true).map((one) => ({ ...one, action: "reuse" as const }));
    assert.equal(notYetProblem({ plan }, reused), undefined);
  });

test("a complete profile is not refused", () => {
  const plan = planOf("smoke");
  assert.equal(notYetProblem({ plan }, started(plan, true)), undefined);
});
