import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { estimateCost, estimateFrom } from "./estimate-cost.ts";

const hour = 3_600_000;

type EarlierAttempt = { gpus?: number; secrets?: string[]; timeMs?: number | null; preset?: object };

function instance({ gpus = 2, secrets = [], timeMs = 24 * hour, preset }: EarlierAttempt = {}) {
  return {
    stage: { name: "attempt" },
    axes: { task: "t", agent: "a", seed: 1 },
    action: { secrets, params: preset ? { preset } : {}, budget: timeMs === null ? {} : { timeMs } },
    execution: { resources: { gpus }, limits: {} },
  } as unknown as Instance;
}

const spent = (gpuHours: number | null, dollars: number | null, hours = 1) =>
  ({ cost: { gpuHours, dollars }, ran: { durationMs: hours * hour } }) as AttemptRecord;

test("without earlier attempts, the estimate is the budget on all devices, as an upper bound", () => {
  assert.deepEqual(estimateFrom(instance(), []), { gpuHours: 48, dollars: 0, timeMs: 24 * hour, from: 0 });
  const unbounded = estimateFrom(instance({ timeMs: null }), []);
  assert.deepEqual([unbounded.timeMs, unbounded.gpuHours], [null, null], "not known, and not nothing");
  assert.equal(estimateFrom(instance({ timeMs: null, gpus: 0 }), []).gpuHours, 0);
});

test("the estimate is the median of earlier attempts, which one outlier does not move", () => {
  const three = [spent(40, 80, 20), spent(48, 86, 24), spent(400, 9, 2)];
  assert.deepEqual(estimateFrom(instance(), three), {
    gpuHours: 48,
    dollars: 80,
    timeMs: 20 * hour,
    from: 3,
  });
  assert.equal(estimateFrom(instance(), three.slice(0, 2)).gpuHours, 44);
});

test("dollars are unknown for an attempt with a secret and no known earlier cost, and 0 without a secret", (t) => {
  process.env.MLRB_TEST_KEY = "key";
  t.after(() => delete process.env.MLRB_TEST_KEY);
  const paid = instance({ secrets: ["MLRB_TEST_KEY"] });
  assert.equal(estimateFrom(paid, []).dollars, null);
  const bounded = { ...paid, action: { ...paid.action, budget: { ...paid.action.budget, dollars: 50 } } };
  assert.equal(estimateFrom(bounded, []).dollars, 50, "its budget is what it can cost at most");
  assert.equal(estimateFrom(bounded, [spent(1, 43)]).dollars, 43);
  assert.equal(estimateFrom(paid, [spent(1, null)]).dollars, null);
  assert.equal(estimateFrom(paid, [spent(1, null), spent(1, 43)]).dollars, 43);
  assert.equal(estimateFrom(instance({ secrets: ["MLRB_TEST_UNSET"] }), []).dollars, 0);
});

test("a model that is not declared free may cost, with or without a key; a free one costs nothing", (t) => {
  process.env.MLRB_TEST_KEY = "key";
  t.after(() => delete process.env.MLRB_TEST_KEY);
  const [priced, free] = [{ id: "m" }, { id: "m", free: true }];
  const dollarsOf = (preset: object, secrets: string[] = []) =>
    estimateFrom(instance({ preset, secrets }), []).dollars;
  for (const [preset, dollars] of [
    [{ kind: "llm", provider: "vllm", model: priced }, null],
    [{ kind: "llm", provider: "vllm", model: { ...priced, free: false } }, null],
    [{ kind: "llm", provider: "vllm", model: free, planner: priced }, null],
    [{ kind: "llm", provider: "vllm", model: free, planner: null }, 0],
    [{ kind: "command", gateway: [{ provider: "openai", ids: ["m"] }] }, null],
    [{ kind: "command", gateway: [{ provider: "vllm", ids: ["m"], free: true }] }, 0],
    [{ kind: "command", gateway: null, model: null }, 0],
    [{ kind: "replay", recording: "x", model: priced }, 0],
  ] as const)
    assert.equal(dollarsOf(preset), dollars, JSON.stringify(preset));
  assert.equal(dollarsOf({ kind: "llm", model: free }, ["MLRB_TEST_KEY"]), 0);
});

test("an attempt with another budget does not count: minutes of smoke do not make a day look cheap", () => {
  const record = { ...spent(0, 0), parts: { budget: { timeMs: 600_000 } } } as AttemptRecord;
  const attempts = { alike: () => [{ digest: "", record }] } as never;
  assert.equal(estimateCost(instance(), { attempts }).from, 0);
  assert.equal(estimateCost(instance({ timeMs: 600_000 }), { attempts }).from, 1);
});
