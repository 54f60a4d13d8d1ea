import assert from "node:assert/strict";
import { test } from "node:test";
import { memorySources, repository } from "../testing/memory-sources.ts";
import { renderDiagnostic } from "../yaml/diagnostic.ts";
import { loadPlan } from "./load-plan.ts";
import { selectInstances } from "./select-instances.ts";

const file = "pipelines/test.yaml";
const text = `formatVersion: 1
name: test
axes: { task: [reading, writing], seed: [1, 2, 10] }
stages:
  data: { each: [task], script: steps/a.ts, gives: { public: dir } }
  attempt: { each: [task, seed], script: steps/a.ts, needs: [data.public], gives: { submission: dir } }
  score: { each: [task, seed], python: steps/measure.py, environment: environments/ml.lock, needs: [attempt.submission], gives: { score: file } }
  report: { collect: [score.score], script: steps/b.ts }
`;
const loaded = loadPlan({ file }, memorySources({ ...repository, [file]: text }), ["local"]);
assert("plan" in loaded);
const { plan } = loaded;

function only(...patterns: string[]): string[] {
  const result = selectInstances(plan, patterns);
  if ("problems" in result) return result.problems.map(renderDiagnostic);
  return result.selected.map((index) => plan.instances[index]!.id);
}

test("no pattern selects everything", () => {
  assert.deepEqual(
    only(),
    plan.instances.map(({ id }) => id),
  );
});

test("selecting a stage selects its needs and its environment", () => {
  assert.deepEqual(only("score[task=writing,seed=10]"), [
    "data[task=writing]",
    "attempt[task=writing,seed=10]",
    "environment[name=ml]",
    "score[task=writing,seed=10]",
  ]);
});

test("selecting a collecting stage does not select its members", () => {
  assert.deepEqual(only("report"), ["report"]);
});

test("patterns have * and ?, name axes in any order, and several add up", () => {
  assert.deepEqual(only("d*"), ["data[task=reading]", "data[task=writing]"]);
  assert.deepEqual(only("attempt[seed=1?,task=r*]"), ["data[task=reading]", "attempt[task=reading,seed=10]"]);
  assert.deepEqual(only("[seed=2]").length, 2 + 2 + 1 + 2);
  assert.deepEqual(only("data[task=reading]", "report"), ["data[task=reading]", "report"]);
  assert.deepEqual(only("dat?[*]"), only("data"));
});

test("characters with a meaning in regular expressions are literal", () => {
  assert.match(only("da.a")[0]!, /^nothing-selected/);
  assert.match(only("(data|report)")[0]!, /^nothing-selected/);
});

test("a pattern that selects nothing is reported with a suggestion", () => {
  assert.deepEqual(only("atempt[task=reading]", "score[seed=7]", "score[sed=1]"), [
    'nothing-selected: no stage instance matches "atempt[task=reading]"\n  help: did you mean "attempt"?',
    'nothing-selected: no stage instance matches "score[seed=7]"\n  help: e.g. score[task=reading,seed=1]',
    'nothing-selected: no stage instance matches "score[sed=1]"\n  help: e.g. score[task=reading,seed=1]',
  ]);
});

test("a blank pattern is refused, since it would select everything", () => {
  for (const blank of ["", " ", "[]", "[ ]", "[,]", "\t"]) {
    const said = only(blank).join("\n");
    assert.match(
      said,
      /^blank-pattern: .* names no stage\n {2}help: leave --only out/,
      JSON.stringify(blank),
    );
  }
  assert.equal(only("data", "").length, 1, "one blank pattern among others is one too many");
  assert.equal(only("*").length, plan.instances.length);
});
