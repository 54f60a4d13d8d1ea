import assert from "node:assert/strict";
import { test } from "node:test";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import type { Request } from "../request/request.ts";
import { costAgreed, costLimits, overCost } from "./cost-gate.ts";
import type { Deciding } from "./gate.ts";
import { costWords, type TotalCost, totalCost } from "./total-cost.ts";

const none: TotalCost = { attempts: 0, gpuHours: 0, unknownGpuHours: 0, dollars: 0, unknownDollars: 0 };
const cost = (gpuHours: number | null, dollars: number | null) => ({
  gpuHours,
  dollars,
  timeMs: null,
  from: 0,
});

test("the total cost sums the attempts that would run and counts unknown amounts separately", () => {
  const previews = [
    { action: "run" as const, cost: cost(24, 43) },
    { action: "stale" as const, onStale: "rerun" as const, cost: cost(24, null) },
    { action: "stale" as const, onStale: "leave" as const, cost: cost(100, 100) },
    { action: "run" as const, cost: cost(null, 0) },
    { action: "reuse" as const },
  ];
  const total = { attempts: 3, gpuHours: 48, unknownGpuHours: 1, dollars: 43, unknownDollars: 1 };
  assert.deepEqual(totalCost(previews), total);
  assert.deepEqual(totalCost(previews, true), { ...total, attempts: 4, gpuHours: 148, dollars: 143 });
});

test("the text of a cost names unknown amounts and uses the singular for one attempt", () => {
  const words = (more: Partial<TotalCost>) => costWords({ ...none, ...more });
  assert.equal(words({ attempts: 1 }), "1 attempt, about 0.0 GPU hours and 0.00 dollars");
  assert.equal(
    words({ attempts: 1, unknownDollars: 1 }),
    "1 attempt, about 0.0 GPU hours, at an unknown cost",
  );
  assert.equal(
    words({ attempts: 3, gpuHours: 72, dollars: 43.456, unknownDollars: 1, unknownGpuHours: 3 }),
    "3 attempts, about 43.46 dollars, all without a bound on GPU hours, 1 of them at an unknown cost",
  );
});

test("GPU hours of services are counted apart from the attempts', and limited apart", () => {
  const served = (service: string, gpuHours: number | null) => ({
    action: "run" as const,
    cost: cost(0, 0),
    served: { service, gpuHours },
  });
  const total = totalCost([
    ...[served("coder", 48), served("coder", 24), served("judge", 10)],
    { ...served("coder", 96), action: "stale", onStale: "leave" },
  ]);
  const services = { names: ["coder", "judge"], least: 58, most: 82, unknown: 0 };
  assert.deepEqual(total, { ...none, attempts: 3, services });
  assert.equal(
    costWords(total),
    "3 attempts, about 0.0 GPU hours and 0.00 dollars, and 58.0 to 82.0 GPU hours of the services coder, judge (users at once, or one after the other)",
  );
  assert.equal(
    costWords(totalCost([served("coder", 48)])),
    "1 attempt, about 0.0 GPU hours and 0.00 dollars, and 48.0 GPU hours of the service coder",
  );
  assert.equal(overCost({ ...total, gpuHours: 82 }, { gpuHours: 82, dollars: 0 }), undefined);
  assert.ok(overCost(total, { gpuHours: 81, dollars: 0 }));
  const unknown = totalCost([served("coder", null)]);
  assert.match(costWords(unknown), /, and GPU hours without a bound of the service coder$/);
  assert.ok(overCost(unknown, { gpuHours: 9, dollars: 0 }));
});

test("a cost over a limit, or an unknown cost, needs --yes", () => {
  const two = { ...none, attempts: 2, gpuHours: 48, dollars: 86.5 };
  assert.equal(overCost(two, { gpuHours: 48, dollars: 86.5 }), undefined);
  assert.equal(overCost(none, { gpuHours: 0, dollars: 0 }), undefined);
  assert.equal(
    renderDiagnostic(overCost(two, { gpuHours: 1, dollars: 100 })!),
    `over-cost: This would start 2 attempts, about 48.0 GPU hours and 86.50 dollars; the limits are 1 GPU hour and 100 dollars.
  help: raise --max-gpu-hours and --max-cost, or pass --yes; \`pnpm pipeline plan\` with the same pipeline and options lists them`,
  );
  assert.equal(
    renderDiagnostic(overCost({ ...none, attempts: 1, unknownDollars: 1 }, { gpuHours: 9, dollars: 1 })!),
    `over-cost: This would start 1 attempt, about 0.0 GPU hours, at an unknown cost; the limits are 9 GPU hours and 1 dollar.
  help: pass --yes; \`pnpm pipeline plan\` with the same pipeline and options lists them`,
  );
  assert.ok(overCost({ ...none, attempts: 1, unknownGpuHours: 1 }, { gpuHours: 9, dollars: 9 }));
});

test("a limit that is not a number is refused, and without a limit nothing may be spent", () => {
  assert.deepEqual(costLimits({}), { gpuHours: 0, dollars: 0 });
  assert.deepEqual(costLimits({ maxCost: "86.5", maxGpuHours: "1e3" }), { gpuHours: 1000, dollars: 86.5 });
  for (const bad of ["-1", "ten", "", "5 dollars", "NaN"]) {
    const problem = costLimits({ maxCost: bad });
    assert.ok("code" in problem, bad);
    assert.equal(
      renderDiagnostic(problem),
      `bad-limit: --max-cost ${bad} is not a number of 0 or more
  help: give a number such as 48 or 86.50, without a unit; --yes removes the limits`,
    );
  }
  const hours = costLimits({ maxGpuHours: "24h" });
  assert.ok("code" in hours && hours.message.startsWith("--max-gpu-hours 24h"));
});

test("an attempt without a key and a GPU is previewed before it starts, unless its model is free", async () => {
  const starts = (model: object) => {
    const stage = { name: "attempt", durable: true, spec: {} };
    const params = { preset: { kind: "llm", provider: "vllm", model } };
    const instance = {
      stage,
      execution: { resources: { gpus: 0 } },
      action: { params, secrets: [], budget: {} },
    };
    const plan = { instances: [instance] } as unknown as Request["plan"];
    // without a workspace a preview fails
    return costAgreed({ plan, selected: [0] }, {} as Deciding, { json: true });
  };
  assert.equal(await starts({ id: "m", free: true }), true);
  await assert.rejects(starts({ id: "m" }), TypeError);
});
