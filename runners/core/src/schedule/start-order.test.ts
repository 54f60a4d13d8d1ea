import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance } from "../plan/plan.ts";
import { startOrder } from "./start-order.ts";

const grid = ["x", "y", "z"].flatMap((task) =>
  ["gpt", "claude"].flatMap((agent) => [1, 2, 3, 4, 5].map((seed) => ({ task, agent, seed }))),
);
const instances = grid.map(
  (axes, index) =>
    ({
      index,
      id: `attempt[task=${axes.task},agent=${axes.agent},seed=${axes.seed}]`,
      stage: { name: "attempt" },
      axes,
      execution: { startBy: ["seed"] },
    }) as unknown as Instance,
);
const inOrder = (pipeline: string, all = instances) =>
  [...startOrder(pipeline, all)].sort(([, a], [, b]) => a - b).map(([index]) => grid[index]!);

test("all attempts of a seed start before those of the next, with tasks and agents mixed", () => {
  const order = inOrder("full-benchmark");
  assert.equal(order.length, 30);
  assert.deepEqual(
    order.map(({ seed }) => seed),
    [1, 2, 3, 4, 5].flatMap((seed) => Array(6).fill(seed)),
  );
  const blocks = [1, 2, 3, 4, 5].map((seed) =>
    order.filter((one) => one.seed === seed).map(({ task, agent }) => `${task} ${agent}`),
  );
  assert.ok(new Set(blocks.map((block) => block.join())).size > 1, "each block has an order of its own");
});

test("the order is the same in each run and differs between pipelines", () => {
  assert.deepEqual(inOrder("full-benchmark"), inOrder("full-benchmark"));
  assert.notDeepEqual(inOrder("full-benchmark"), inOrder("other"));
});

test("instances without startBy have no place", () => {
  const plain = instances.map((one) => ({ ...one, execution: {} }) as Instance);
  assert.equal(startOrder("full-benchmark", plain).size, 0);
});

test("with two axes all attempts of a task start before those of the next task, and there seed by seed", () => {
  const byTask = instances.map((one) => ({ ...one, execution: { startBy: ["task", "seed"] } }) as Instance);
  assert.deepEqual(
    inOrder("full-benchmark", byTask).map(({ task, seed }) => `${task}${seed}`),
    ["x", "y", "z"].flatMap((task) => [1, 2, 3, 4, 5].flatMap((seed) => Array(2).fill(`${task}${seed}`))),
  );
});
