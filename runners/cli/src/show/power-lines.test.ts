import assert from "node:assert/strict";
import { test } from "node:test";
import { home, smallPlan } from "@mlrb/local/testing/small-plan";
import { powerLines } from "./power-lines.ts";

type Planned = {
  tasks: number;
  seeds: number | number[];
  agents?: string[];
  kind?: string;
  dollars?: number;
};

function linesOf(
  t: Parameters<typeof home>[0],
  { tasks, seeds, agents = ["a", "b"], kind = "llm", dollars }: Planned,
  seeded: Record<string, boolean | null> = {},
): string[] {
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  const preset = { kind, model: { id: "m", contextTokens: 1000 } };
  const plan = smallPlan(
    ...upTo(tasks).flatMap((task) =>
      agents.flatMap((agent) =>
        upTo(typeof seeds === "number" ? seeds : seeds[task - 1]!).map((seed) => ({
          ...{ name: "attempt", axes: { task: `t${task}`, agent, seed }, durable: true },
          action: { params: { preset }, budget: dollars === undefined ? {} : { dollars } },
        })),
      ),
    ),
    { name: "report", publishes: true, action: { params: { seeded } } },
  );
  for (const { stage } of plan.instances) if (stage.name === "attempt") stage.role = "attempt";
  return powerLines(plan, home(t).open());
}

const goes = "(power 0.8, level 0.05)";

test("what a plan could find, and what the first single task would cost", (t) => {
  assert.deepEqual(linesOf(t, { tasks: 7, seeds: 5, dollars: 10 }), [
    `5 seeds × 7 tasks: sees 0.7 SD over all tasks, no single task ${goes}`,
    "6 seeds: a single task at 2.8 SD; +14 attempts, +140.00 dollars",
  ]);
  assert.deepEqual(linesOf(t, { tasks: 7, seeds: 6 }), [
    `6 seeds × 7 tasks: sees 0.7 SD over all tasks, a single task at 2.8 SD ${goes}`,
  ]);
});

test("an unknown price stays unknown, and where no result could be significant no test is possible", (t) => {
  assert.deepEqual(linesOf(t, { tasks: 1, seeds: 1 }), [
    "1 seed × 1 task: no test is possible",
    "4 seeds: sees 2.7 SD; +6 attempts at an unknown cost",
  ]);
  assert.match(linesOf(t, { tasks: 5, seeds: 1 })[0]!, /^1 seed × 5 tasks: no test is possible$/);
});

test("where tasks have different numbers of seeds, those with the most are named, and a single task's test is one of all", (t) => {
  const [first, second] = linesOf(t, { tasks: 7, seeds: [2, 2, 2, 1, 1, 2, 2], dollars: 1 });
  assert.equal(first, linesOf(t, { tasks: 5, seeds: 2 })[0]);
  assert.match(second!, /^6 seeds: a single task at 2\.8 SD; \+60 attempts, \+60\.00 dollars$/);
});

test("pairs of three agents are corrected together, as in the report", (t) => {
  const [first, second] = linesOf(t, { tasks: 7, seeds: 5, agents: ["a", "b", "c"], dollars: 1 });
  assert.match(first!, /sees 0\.9 SD over all tasks, no single task/);
  assert.match(second!, /^6 seeds: a single task at [34]\.\d SD; \+21 attempts, \+21\.00 dollars$/);
});

test("nothing is said of agents that a seed determines, of one agent, or of a comparison too large to compute fast", (t) => {
  assert.deepEqual(linesOf(t, { tasks: 2, seeds: 3 }, { a: true, b: null }), []);
  assert.deepEqual(linesOf(t, { tasks: 2, seeds: 3, kind: "replay" }), []);
  assert.deepEqual(linesOf(t, { tasks: 2, seeds: 3, agents: ["a"] }), []);
  assert.deepEqual(linesOf(t, { tasks: 1, seeds: 40 }), []);
});
