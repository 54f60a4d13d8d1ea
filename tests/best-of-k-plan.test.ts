// What best-of-k plans: full-benchmark's attempts, and their scores on public rows where a task has some.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Selection } from "@mlrb/core/plan/resolve-axes";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { bestOfPlan } from "@mlrb/report/protocol/analysis-plan";
import { reportParams } from "@mlrb/report/read/report-params";
import { executorNames } from "../runners/cli/src/run/executors.ts";

const files = sourceFiles(join(import.meta.dirname, ".."));

function planOf(pipeline: string, profile: string, set: Selection = {}) {
  const request = { file: `pipelines/${pipeline}.yaml`, profile, set, executor: undefined };
  const loaded = loadPlan(request, files, executorNames);
  assert.ok("plan" in loaded, JSON.stringify(loaded).slice(0, 1000));
  return loaded.plan.instances;
}

const tasksOf = (instances: ReturnType<typeof planOf>, name: string) =>
  [...new Set(instances.filter(({ stage }) => stage.name === name).map(({ axes }) => axes.task))].sort();

test("attempts are those of full-benchmark, which scores nothing on public rows", () => {
  const attempts = (pipeline: string) =>
    planOf(pipeline, "smoke")
      .filter(({ stage }) => stage.durable)
      .map(({ id, action }) => ({ id, action }));
  assert.deepEqual(attempts("best-of-k"), attempts("full-benchmark"));
  for (const stage of ["dev-data", "dev-answers", "dev-score"])
    assert.deepEqual(tasksOf(planOf("full-benchmark", "smoke"), stage), []);
});

test("a task's own public rows choose, and the choice never reads private rows", () => {
  const smoke = planOf("best-of-k", "smoke");
  assert.deepEqual(tasksOf(smoke, "dev-score"), ["edge-llm-compression", "llm-merging", "math-reasoning"]);
  assert.deepEqual(tasksOf(smoke, "dev-answers"), ["math-reasoning"]);
  assert.deepEqual(tasksOf(planOf("best-of-k", "paper"), "dev-score"), ["baby-lm", "mini-pile"]);
  for (const { stage } of smoke.filter(({ stage }) => /^dev-(score|answers)$/.test(stage.name))) {
    const needs = stage.needs.map(({ stage: from, output }) => `${from}.${output}`);
    assert.ok(needs.includes("dev-data.private") && !needs.includes("data.private"), needs.join());
  }
});

test("each dev score runs the code of its scorer, and the report gets its direction", () => {
  const smoke = planOf("best-of-k", "smoke", { task: ["llm-merging", "baby-lm"] });
  const [score] = smoke.filter(({ stage }) => stage.name === "dev-score");
  assert.deepEqual(score!.action.run, { kind: "python", file: "scorers/worst-domain/measure.py" });
  assert.equal(score!.action.params.direction, "higher");
  const report = smoke.find(({ stage }) => stage.name === "report")!.action.params;
  const params = reportParams(report);
  assert.deepEqual(params.bestOf, [1, 2, 5]);
  assert.equal(params.devMetric("llm-merging")!.name, "worst-domain");
  assert.deepEqual([params.devMetric("baby-lm"), params.success("baby-lm")], [undefined, null]);
  assert.equal(params.success("llm-merging"), 0.5);
  assert.deepEqual(
    bestOfPlan(params, ["llm-merging", "baby-lm"])
      .map(({ text }) => text)
      .slice(1),
    [
      "llm-merging: worst-domain; baby-lm: none",
      "llm-merging: 0.5 or better; baby-lm: better than the reference model by two of its standard errors",
    ],
  );
  assert.deepEqual(
    bestOfPlan(reportParams({ ...report, bestOf: null }), ["baby-lm"]),
    [],
    "frozen plans stay",
  );
  assert.throws(() => reportParams({ ...report, bestOf: [0] }), /bestOf/);
});
