import assert from "node:assert/strict";
import { test } from "node:test";
import { markdown } from "../formats/markdown.ts";
import { page } from "../page/page.ts";
import { Example, passed, researched, scored } from "../testing/example.ts";
import { samplePage } from "../testing/page-example.ts";

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
const found = (iterations: Record<string, unknown>) => {
  const one = research(iterations).attempts[0]!.research;
  assert.ok(one?.kind === "found");
  return one;
};

test("what ended an attempt is copied, in the words of its file", () => {
  assert.deepEqual(found(researched({}, [limit])).ends, [limit]);
});

const limit = { kind: "limit", detail: "it reached its time limit", evidence: [4] };

test("what ended an attempt is in every form of its report", () => {
  const report = research(researched({}, [limit]));
  for (const form of [markdown(report), page(samplePage(report))])
    assert.match(form, /it reached its time limit/);
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

test("calls that name the benchmark are copied, where they are known", () => {
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
