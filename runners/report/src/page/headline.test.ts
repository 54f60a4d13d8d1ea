import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import type { AgentComparison } from "@mlrb/formats/report/agent-comparison";
import { largeExample } from "../testing/large-example.ts";
import { nastyExample } from "../testing/nasty-example.ts";
import { headline } from "./headline.ts";

const sample: Report = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../../docs/sample/report.json"), "utf8"),
);
const nasty = nastyExample().report();

type Overall = Extract<AgentComparison["overall"], { kind: "tested" }>;

/** The sample with other numbers of the test over attempts. */
function tested(overall: Partial<Overall>, interval: [number, number] | null = null): Report {
  const agentComparisons = sample.agentComparisons.map((each) => ({
    ...each,
    overall: { ...(each.overall as Overall), ...overall },
    difference: { ...each.difference, interval, withheld: null } as AgentComparison["difference"],
  }));
  return { ...sample, agentComparisons };
}

test("the sample's headline counts the means of its main table and says that the data are for practice", () => {
  assert.equal(
    headline(sample),
    "Practice data: reference scored better than minimal at 7 of 7 tasks. New attempts would probably agree (p = 2.6e-4 over 5 tasks).",
  );
});

test("a p above 0.05 is never called agreement", () => {
  assert.match(headline(tested({ p: 0.051 })), /Whether new attempts would agree is not shown \(p = 0\.051/);
});

test("a test that no result could pass is called too few attempts", () => {
  assert.match(headline(tested({ p: 0.3, pMin: 0.1 })), /too few attempts to tell/);
  const agentComparisons = sample.agentComparisons.map((each) => ({
    ...each,
    overall: { kind: "untestable" } as const,
  }));
  assert.match(headline({ ...sample, agentComparisons }), /too few attempts to tell/);
});

test("an interval of the difference that holds 0 takes agreement away, also from the second agent of a pair", () => {
  assert.match(
    headline(tested({}, [-0.5, 0.1])),
    /favours reference \(p = 2\.6e-4 over 5 tasks\), but the interval of the difference of means holds 0: new attempts may not agree/,
  );
  assert.match(headline(tested({}, [-0.5, -0.1])), /probably agree/);
});

test("a test that favours the other agent is said, not hidden", () => {
  assert.match(headline(tested({ statistic: 0.9 })), /The test over attempts favours minimal \(p = 2\.6e-4/);
});

test("with more agents p is adjusted for all pairs, and the largest one is given", () => {
  assert.equal(
    headline(largeExample().report),
    "supervisor scored best of 3 agents at 7 of 7 tasks (failed attempts count as the trivial baseline). New attempts would probably agree (p at most 4.3e-6 over 7 tasks, adjusted for 3 pairs).",
  );
});

test("tasks without a usable mean of every agent are counted, and so are level ones", () => {
  assert.match(headline(nasty), /cannot be compared|no task has a usable mean/);
  const level = sample.cells.map((cell) =>
    cell.task === "baby-lm" && cell.primary ? { ...cell, mean: 3 } : cell,
  );
  assert.match(headline({ ...sample, cells: level }), /at 6 of 7 tasks, with equal means at 1/);
});

test("two agents that are best equally often are both named, and neither is called ahead", () => {
  const tasks = sample.acrossTasks.ranked.slice(0, 2);
  const cells = sample.cells.map((cell) =>
    cell.task === tasks[0] && cell.primary && cell.agent === "minimal" ? { ...cell, mean: 0 } : cell,
  );
  const text = headline({ ...sample, cells, acrossTasks: { ...sample.acrossTasks, ranked: tasks } });
  assert.match(
    text,
    /^Practice data: minimal and reference each scored best at 1 of 2 tasks; 5 tasks cannot/,
  );
});

test("agents that share the best mean both count it, and the last bit of a mean decides nothing", () => {
  const { report } = largeExample();
  const means: Record<string, number> = { minimal: 0.6666666666666666, "one-loop": 0.6666666666666667 };
  const cells = report.cells.map((cell) => ({
    ...cell,
    direction: "higher" as const,
    mean: means[cell.agent] ?? 0.1,
  }));
  assert.match(
    headline({ ...report, cells }),
    /^minimal and one-loop each scored best at 7 of 7 tasks \(failed attempts/,
  );
  const one = cells.map((cell) =>
    cell.task === report.acrossTasks.ranked[0] && cell.agent === "supervisor" ? { ...cell, mean: 0.9 } : cell,
  );
  assert.match(headline({ ...report, cells: one }), /^minimal and one-loop each scored best at 6 of 7 tasks/);
});

test("a significant test is not called a tie, and needs a difference in its direction", () => {
  const agentComparisons = sample.agentComparisons.map((each) => ({
    ...each,
    difference: { ...each.difference, value: 0.4, interval: null } as AgentComparison["difference"],
  }));
  assert.match(
    headline({ ...sample, agentComparisons }),
    /but the difference of means over tasks does not: new/,
  );
  const tasks = sample.acrossTasks.ranked.slice(0, 2);
  const cells = sample.cells.map((cell) =>
    cell.task === tasks[0] && cell.primary && cell.agent === "minimal" ? { ...cell, mean: 0 } : cell,
  );
  const tied = { ...tested({}, [-0.5, 0.1]), cells, acrossTasks: { ...sample.acrossTasks, ranked: tasks } };
  assert.match(headline(tied), /The test over attempts favours reference: see Statistics/);
});

test("one agent is compared with the trivial baseline, and no attempt with nothing", () => {
  const alone = {
    ...sample,
    agents: sample.agents.slice(0, 1),
    cells: sample.cells.filter(({ agent }) => agent === "minimal"),
  };
  assert.match(headline(alone), /minimal beat the trivial baseline at 7 of 7 tasks/);
  const attempts = { ...sample.coverage.attempts, planned: 0 };
  assert.match(
    headline({ ...sample, coverage: { ...sample.coverage, attempts } }),
    /no attempts were planned/,
  );
});
