import assert from "node:assert/strict";
import { test } from "node:test";
import { memorySources, repository } from "../testing/memory-sources.ts";
import { loadPlan } from "./load-plan.ts";
import type { Selection } from "./resolve-axes.ts";

const levels = `levels:
  quick: { of: time, dose: 0.25, unit: share of the time, says: "You have a quarter of the time." }
  small: { of: memory, dose: 4, unit: GB, whole: 12, says: "4 GB.", bytes: { smoke: 400, official: 4000 } }
`;
const rules = `rules:
  - { name: memory, title: Small., method: memory-max, with: { bytes: 12000, tokens: 5 }, source: official, severity: note }
`;
const pipeline = (axes: string) => `formatVersion: 1
name: test
axes: { task: [reading, writing], agent: [basic]${axes} }
params: { data: smoke }
stages:
  level: { each: [task], when: "{task.level}", script: steps/a.ts, params: { level: "{task.level}" }, gives: { text: { file: t.md } } }
  attempt:
    each: [task, agent]
    script: steps/a.ts
    needs: [level.text]
    params: { preset: "{agent.preset}", rules: "{task.memoryRules}", folder: "tasks/{task.folder}/x.md" }
    budget: { time: "{task.budget.{params.data}.time}" }
    gives: { submission: dir }
`;

function load(set: Selection, axes = ", level: [quick, whole]") {
  const reading = repository["tasks/reading/task.yaml"]!.replace("rules: []\n", rules + levels);
  const files = { ...repository, "tasks/reading/task.yaml": reading, "pipelines/test.yaml": pipeline(axes) };
  return loadPlan({ file: "pipelines/test.yaml", set }, memorySources(files), ["local"]);
}

function plan(set: Selection = {}, axes?: string) {
  const result = load(set, axes);
  assert.ok("plan" in result, JSON.stringify(result));
  return result.plan;
}

const attempts = (made: ReturnType<typeof plan>) =>
  made.instances.filter(({ stage }) => stage.name === "attempt");
const tasks = (made: ReturnType<typeof plan>) => attempts(made).map(({ axes }) => axes.task);

test("a level multiplies the tasks that have it; the whole task keeps its name and its action", () => {
  const made = plan();
  assert.deepEqual(tasks(made), ["reading@quick", "reading"]);
  const [quick, whole] = attempts(made);
  assert.equal(quick!.action.budget.timeMs, 150_000);
  assert.deepEqual(whole!.action, attempts(plan({}, "")).find(({ axes }) => axes.task === "reading")!.action);
  assert.deepEqual(whole!.inputs, [], "no text of a level");
  assert.equal(quick!.inputs.length, 1);
});

test("files of a task at a level are those of the task, also where a preset names them", () => {
  const [quick] = attempts(plan());
  assert.equal(quick!.action.params.folder, "tasks/reading/x.md");
  assert.match(JSON.stringify(quick!.action.params.preset), /"program":"tasks\/reading\/scripts"/);
});

test("a level of memory changes the rule on it, for each kind of data", () => {
  const made = plan({ level: ["small"] });
  assert.deepEqual(tasks(made), ["reading@small"]);
  const found = attempts(made)[0]!.action.params.rules as { on: string[]; with: { bytes: number } }[];
  assert.deepEqual(
    found.map((rule) => [rule.on, rule.with.bytes]),
    [
      [["smoke"], 400],
      [["official"], 4000],
    ],
  );
  assert.equal(made.selection, "level=small");
});

test("--set task may name a task at a level in any pipeline", () => {
  assert.deepEqual(tasks(plan({ task: ["reading@quick", "writing"] }, "")), ["reading@quick", "writing"]);
});

test("unknown levels are named with those that there are", () => {
  const ofAxis = load({ level: ["slow"] });
  assert.ok("problems" in ofAxis);
  assert.match(JSON.stringify(ofAxis.problems), /unknown-level.*no task here has a level \\"slow\\".*quick/);
  const ofTask = load({ task: ["reading@qick"] }, "");
  assert.ok("problems" in ofTask);
  assert.match(JSON.stringify(ofTask.problems), /unknown-level.*has no level \\"qick\\".*quick/);
  const without = load({ level: ["quick"] }, "");
  assert.ok("problems" in without);
  assert.match(JSON.stringify(without.problems), /no axis \\"level\\"/);
});
