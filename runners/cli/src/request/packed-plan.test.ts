import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { memorySources, repository } from "@mlrb/core/testing/memory-sources";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import { packPlan, unpackPlan } from "./packed-plan.ts";

const text = `formatVersion: 1
name: test
axes: { task: [reading, writing], seed: [1, 2, 3] }
stages:
  make: { each: [task], command: "make {task}", gives: { text: file }, environment: environments/ml.lock }
  try: { each: [task, seed], needs: [make.text], command: try, gives: { work: file }, durable: true }
  gather: { collect: [try.work], command: gather, gives: { all: file } }
`;

function plan() {
  const sources = memorySources({ ...repository, "environments/ml.lock": "", "pipelines/test.yaml": text });
  const result = loadPlan({ file: "pipelines/test.yaml" }, sources, ["local"]);
  if ("problems" in result) throw new Error(result.problems.map(renderDiagnostic).join("\n"));
  return result.plan;
}

test("a plan packed, written as JSON and unpacked equals the original, with shared parts", () => {
  const before = plan();
  const after = unpackPlan(JSON.parse(JSON.stringify(packPlan(before))));
  assert.deepEqual(after, before);
  assert.ok(before.instances.some(({ stage }) => stage.name === "environment"));
  for (const { stage } of after.instances.filter((one) => one.stage.name !== "environment"))
    assert.ok(after.stages.includes(stage), "a stage is one object");
});

test("parts that instances share are written once", () => {
  const { shared, instances } = packPlan(plan());
  assert.equal(instances.length, 10);
  const count = (field: "stage" | "action" | "execution") => new Set(instances.map((one) => one[field])).size;
  assert.deepEqual(
    [count("stage"), count("action")],
    [4, 5],
    "make for each of two tasks, try, gather, the environment",
  );
  assert.equal(shared.length, count("stage") + count("action") + count("execution"));
});
