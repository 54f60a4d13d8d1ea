import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Plan } from "@mlrb/core/plan/plan";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { executorNames } from "../run/executors.ts";
import { startedIn } from "./gate.ts";
import { notYetGate } from "./not-yet-gate.ts";

const disk = sourceFiles(join(import.meta.dirname, "../../../.."));

const unready = "tasks/math-reasoning/task.yaml";

/** Of the shipped pipeline and a task that is not ready. `official`: a profile of the pipeline's own. */
function planOf(profile: string, { notYet = "no scorer reads Lean 5" } = {}) {
  const file = "pipelines/own.yaml";
  const own = `formatVersion: 1\nname: own\nextends: full-benchmark\nprofiles:\n  official: { extends: paper }\n`;
  const changed = (path: string, text: ReturnType<typeof disk.read>) =>
    path === unready
      ? text?.replace(
          'notYet: { smoke: "", official: "", mini: "" }',
          `notYet: { smoke: "", official: "${notYet}", mini: "" }`,
        )
      : text;
  const sources = { ...disk, read: (path: string) => (path === file ? own : changed(path, disk.read(path))) };
  const loaded = loadPlan({ file, profile, set: {}, executor: undefined }, sources, executorNames);
  assert.ok(!("problems" in loaded), JSON.stringify(loaded).slice(0, 500));
  return loaded.plan;
}

function notYetProblem({ plan }: { plan: Plan }, previews: { index: number; action: "run" | "reuse" }[]) {
  return notYetGate({ starts: startedIn(previews).map(({ index }) => plan.instances[index]!) })[0];
}

const started = (plan: ReturnType<typeof planOf>, durable: boolean) =>
  plan.instances
    .filter(({ stage }) => stage.durable === durable)
    .map(({ index }) => ({ index, action: "run" as const }));

for (const profile of ["paper", "h100-10h", "official"])
  test(`a run of ${profile} that would start an attempt at math-reasoning is refused, and its other stages may run`, () => {
    const plan = planOf(profile);
    const attempts = started(plan, true).filter(
      ({ index }) => plan.instances[index]!.axes.task === "math-reasoning",
    );
    assert.ok(attempts.length > 0);
    const problem = notYetProblem({ plan }, attempts);
    assert.match(problem?.found ?? "", /^attempt\[task=math-reasoning[^\]]*\]: no scorer reads Lean 5/);
    assert.equal(notYetProblem({ plan }, started(plan, false)), undefined);
    const reused = attempts.map((one) => ({ ...one, action: "reuse" as const }));
    assert.equal(notYetProblem({ plan }, reused), undefined);
  });

test("no shipped task refuses attempts on official data", () => {
  const plan = planOf("paper", { notYet: "" });
  assert.equal(started(plan, true).length, 70);
  assert.equal(notYetProblem({ plan }, started(plan, true)), undefined);
});

test("attempts at the other tasks on official data are not refused, nor any on smoke's data", () => {
  const paper = planOf("paper");
  const others = started(paper, true).filter(
    ({ index }) => paper.instances[index]!.axes.task !== "math-reasoning",
  );
  assert.equal(others.length, 60);
  assert.equal(notYetProblem({ plan: paper }, others), undefined);
  for (const profile of ["smoke", "shakedown"]) {
    const plan = planOf(profile);
    assert.equal(notYetProblem({ plan }, started(plan, true)), undefined);
  }
});
