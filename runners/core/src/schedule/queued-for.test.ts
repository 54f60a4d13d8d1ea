import assert from "node:assert/strict";
import { test } from "node:test";
import { queuedFor, queuedWords } from "./queued-for.ts";
import { step } from "./schedule.ts";
import { initialState, type Work } from "./schedule-state.ts";

const work = (id: string, resources: Partial<Work["resources"]>): Work => ({
  ...{ id, needs: [], collects: [], expectedMs: 1, lazy: false },
  resources: { cpus: 1, memoryBytes: 0, gpus: 0, ...resources },
});

test("a ready instance is counted under the GPUs or pool that it lacks, until it starts", () => {
  const capacity = { cpus: 8, memoryBytes: 100, gpus: 1, pools: { api: 1 } };
  const works = [
    ...[1, 2, 3].map((n) => work(`gpu-${n}`, { gpus: 1 })),
    ...[1, 2].map((n) => work(`call-${n}`, { pools: { api: 1 } })),
    work("small", {}),
  ];
  let { state } = step(initialState(works, { capacity, failFast: false }), { kind: "begin" });
  for (const index of works.keys()) ({ state } = step(state, { kind: "decided", index, decision: "run" }));
  assert.deepEqual(queuedFor(state, capacity), [
    { resource: "GPUs", instances: 2 },
    { resource: "pool api", instances: 1 },
  ]);
  assert.equal(queuedWords(queuedFor(state, capacity)), "2 wait for GPUs, 1 waits for pool api");
  const running = [...state.running];
  for (const index of running)
    ({ state } = step(state, { kind: "ended", index, outcome: { kind: "succeeded" } }));
  assert.deepEqual(queuedFor(state, capacity), [{ resource: "GPUs", instances: 1 }]);
});
