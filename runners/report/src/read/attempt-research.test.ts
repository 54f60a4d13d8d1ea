import assert from "node:assert/strict";
import { test } from "node:test";
import { Example, passed, researched, scored } from "../testing/example.ts";

const axes = { task: "letters", agent: "plain", seed: 1 };

/** The research of an attempt at `letters` scored on `bits` (lower is better), 2 by the scorer. */
function research(iterations: Record<string, unknown> | undefined) {
  const example = new Example()
    .gives("attempt", axes, { submission: "sha256:x" })
    .gives("validate", axes, passed)
    .gives("score", { ...axes, scorer: "bits" }, scored("bits", [{ id: "a", value: 2, weight: 1 }]));
  if (iterations) example.gives("iterations", axes, iterations);
  return example.report();
}
const said = (name: string, ...values: number[]) =>
  researched({
    metric: { name, split: "dev" },
    values: values.map((value, at) => ({ value, sinceStartMs: at, predicted: null })),
  });
const found = (iterations: Record<string, unknown>) => {
  const one = research(iterations).attempts[0]!.research;
  assert.ok(one?.kind === "found");
  return one;
};

test("self-reported minus measured needs a scorer with the metric's name", () => {
  assert.equal(found(said("bits", 3, 1.5)).saidMinusMeasured, -0.5);
  assert.equal(found(said("dev-bits", 3, 1.5)).saidMinusMeasured, null);
  assert.equal(found(said("__proto__", 3)).saidMinusMeasured, null);
});

test("best minus final uses the scorer's direction, else the name's, else it is null", () => {
  assert.equal(found(said("bits", 3, 1, 1.5)).bestMinusFinal, -0.5);
  assert.equal(found(said("accuracy", 0.5, 0.75, 0.25)).bestMinusFinal, 0.5);
  assert.equal(found(said("bits", 3, 1)).bestMinusFinal, 0);
  assert.equal(found(said("grumbles", 3, 1)).bestMinusFinal, null);
});

test("a pipeline without iterations has no research in any form of its report", () => {
  const report = research(undefined);
  assert.equal(report.attempts[0]!.research, null);
  assert.deepEqual(report.coverage.gaps, []);
});

test("iterations that cannot be read are not measured, with the cause, and a gap", () => {
  const report = research({ iterations: { formatVersion: 9, kind: "found" } });
  assert.deepEqual(report.attempts[0]!.research, {
    kind: "not-measured",
    cause: "unreadable iterations (formatVersion is 9, not 1)",
  });
  assert.equal(report.coverage.gaps.length, 1);
});

test("calls that name the benchmark are copied; files of earlier versions have none", () => {
  const counted = { kind: "counted", calls: 2, names: ["blimp"] };
  assert.deepEqual(found(researched({ benchmarkCalls: counted })).benchmarkCalls, counted);
  assert.equal("benchmarkCalls" in found(researched({ benchmarkCalls: undefined })), false);
});

test("impossible numbers are unreadable, not shown", () => {
  for (const measures of [
    { executedIterations: -1 },
    { executedIterations: "1" },
    { values: [{ value: null }] },
    { benchmarkCalls: { kind: "counted", calls: -1, names: [] } },
  ]) {
    assert.equal(research(researched(measures)).attempts[0]!.research?.kind, "not-measured");
  }
});
