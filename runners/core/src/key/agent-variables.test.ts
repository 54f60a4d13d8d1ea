import assert from "node:assert/strict";
import { test } from "node:test";
import { agentVariables } from "./agent-variables.ts";

const always = {
  LANG: "C.UTF-8",
  TZ: "UTC",
  PYTHONHASHSEED: "0",
  PYTHONDONTWRITEBYTECODE: "1",
  OMP_NUM_THREADS: "1",
};

test("every agent sees the same variables, and its task and seed where its stage has them", () => {
  assert.deepEqual(agentVariables({}), always);
  assert.deepEqual(agentVariables({ task: "a-task" }), { ...always, MLRB_TASK: "a-task" });
  assert.deepEqual(agentVariables({ gpuMemoryBytes: 4e10 }), {
    ...always,
    MLRB_GPU_MEMORY_BYTES: "40000000000",
  });
  assert.deepEqual(agentVariables({ seed: 0 }), { ...always, MLRB_SEED: "0" });
});

test("libraries use as many threads as the attempt has processors, at least one", () => {
  const threads = (cpus: number) => agentVariables({ cpus }).OMP_NUM_THREADS;
  assert.deepEqual([0.5, 1, 7.9, 16].map(threads), ["1", "1", "7", "16"]);
});
