import assert from "node:assert/strict";
import { test } from "node:test";
import { overTimeTable } from "../sections/checkpoints-section.ts";
import { agentsExample } from "../testing/agents-example.ts";
import { scoreOverTime } from "./score-over-time.ts";

const { report } = agentsExample();
const letters = scoreOverTime(report, "letters")!;
const at = (agent: string, share: number, found = letters) =>
  found.agents.find((one) => one.agent === agent)!.at.find((one) => one.share === share)!;

test("the last point of an agent is the mean of the results, with failed attempts at the trivial baseline", () => {
  for (const { task, agent, mean } of report.cells.filter(({ primary }) => primary))
    assert.ok(Math.abs(at(agent, 1, scoreOverTime(report, task)).mean! - mean!) < 1e-12, `${task} ${agent}`);
  assert.deepEqual([at("agent-c", 1).failed, at("agent-c", 1).measured], [2, 5]);
});

test("a point is of the submissions as they were then, never of the best so far on the test items", () => {
  assert.ok(at("agent-c", 1, scoreOverTime(report, "numbers")).mean! < 0.44, "it got worse at the end");
  const scores = report.attempts
    .filter(({ task, agent }) => task === "letters" && agent === "agent-b")
    .map(({ checkpoints }) => checkpoints.find(({ share }) => share === 0.5)!.scores.bits!)
    .map((score) => (score.kind === "scored" ? score.value : Number.NaN));
  assert.deepEqual(at("agent-b", 0.5).range, [Math.min(...scores), Math.max(...scores)]);
});

test("without a submission an attempt counts as the trivial baseline, and a lost checkpoint does not count", () => {
  const { baseline } = letters.cell!;
  assert.deepEqual([at("agent-b", 0.1).mean, at("agent-b", 0.1).none], [baseline, 5]);
  assert.deepEqual([at("agent-a", 0.5).measured, at("agent-a", 0.5).planned], [4, 5]);
  assert.deepEqual([at("agent-c", 0.1, scoreOverTime(report, "numbers")).measured], [4], "one is missing");
});

test("a failure without a known trivial baseline leaves no mean", () => {
  const cells = report.cells.map((cell) => ({ ...cell, baseline: null }));
  const found = scoreOverTime({ ...report, cells }, "letters")!;
  assert.deepEqual([at("agent-b", 0.1, found).mean, at("agent-b", 0.1, found).range], [null, null]);
  assert.equal(at("agent-a", 0.25, found).mean, at("agent-a", 0.25).mean);
});

test("the hours are known only where all attempts have one budget", () => {
  assert.equal(letters.budgetMs, 4 * 3_600_000);
  const attempts = report.attempts.map((one, index) =>
    index === 0 ? { ...one, budget: { timeMs: 1 } } : one,
  );
  assert.equal(scoreOverTime({ ...report, attempts }, "letters")!.budgetMs, null);
});

test("the table has 10, 25, 50, 75 and 100 %, and says where nothing was measured or submitted", () => {
  const without = report.attempts.map((one) => ({
    ...one,
    checkpoints: one.checkpoints.filter(({ share }) => share !== 0.75),
  }));
  const { columns, groups } = overTimeTable({ ...report, attempts: without });
  assert.deepEqual(
    columns.map(({ head }) => head),
    ["agent", "10%", "25%", "50%", "75%", "100%"],
  );
  const texts = groups[0]!.rows.map((row) => row.map(({ lines }) => lines.join(" ")));
  assert.equal(texts[0]![4], "not measured");
  assert.equal(texts[1]![1], "no submission yet (5)");
  assert.match(texts[0]![3]!, /^2\.\d+ \(4 of 5\)$/);
  assert.match(texts[2]![5]!, /^3\.\d+ \(5, 2 failed\)$/);
});

test("without a change over time there is neither a figure nor a table", () => {
  const { report: flat } = agentsExample({ overTime: false });
  assert.equal(scoreOverTime(flat, "letters"), undefined);
  assert.deepEqual(overTimeTable(flat).groups, []);
});
