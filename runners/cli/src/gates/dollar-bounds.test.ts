import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import { type AgentBound, agentBounds, boundLines } from "./dollar-bounds.ts";

const attempt = (agent: string, preset: object, more: { gpus?: number; dollars?: number } = {}) => {
  const { gpus = 1, dollars } = more;
  const budget = { timeMs: 2 * 3_600_000, ...(dollars !== undefined && { dollars }) };
  return {
    axes: { agent },
    stage: { name: "attempt", durable: true },
    execution: { resources: { gpus }, limits: {} },
    action: { params: { preset }, secrets: [], budget },
  } as unknown as Instance;
};
const model = { id: "m", contextTokens: 1000, maxOutputTokens: 100 };
const llm = { kind: "llm", provider: "x", model, turnsMax: 10 };
const bounds = (starts: Instance[], ...prices: string[]) => agentBounds(starts, prices) as AgentBound[];
const words = (found: AgentBound[], maxDollars?: number) =>
  boundLines(found, { maxDollars, reported: undefined });

test("each agent's attempts together, and all agents, have a bound on dollars and GPU hours", () => {
  const limited = attempt("b", llm, { gpus: 0, dollars: 3 });
  const found = bounds([attempt("a", llm), attempt("a", llm), limited], "m=100/1000");
  const each = (1000 * 200 + 100 * 1000) / 1e6;
  assert.deepEqual(
    found.map(({ agent, attempts, gpuHours, dollars }) => [agent, attempts, gpuHours, dollars]),
    [
      ["a", 2, 4, 20 * each],
      ["b", 1, 0, 3],
    ],
  );
  assert.deepEqual(words(found), [
    "by budgets and prices: 3 attempts, at most 4.0 GPU hours, at most 9.00 dollars; --max-cost limits what they spend",
    "  a: 2 attempts, at most 4.0 GPU hours, at most 6.00 dollars (each by 10 calls of up to 1000 tokens)",
    "  b: 1 attempt, at most 0.0 GPU hours, at most 3.00 dollars (each by its limit of dollars)",
  ]);
});

test("an agent without a known price has no bound, nor has the run, and the line says how to give the price", () => {
  const [all, , second] = words(bounds([attempt("a", llm, { dollars: 1 }), attempt("b", llm)]), 5);
  assert.match(all!, /^by budgets and prices: 2 attempts, .*, dollars without a bound; --max-cost 5 holds$/);
  assert.match(
    second!,
    /b: .*, dollars without a bound \(no price of x m is known: add --price 'm=INPUT\/OUTPUT'\)$/,
  );
});

test("free models and programs without one cost no dollars, so nothing is printed of them", () => {
  const free = attempt("a", { ...llm, model: { ...model, free: true } });
  assert.deepEqual(words(bounds([free, attempt("b", { kind: "command" })])), []);
});

test("what somebody reported of an attempt is printed with its source, for one and for all", () => {
  const reported = { dollars: 43, source: "arXiv:2410.22553" };
  const found = bounds([attempt("a", llm), attempt("a", llm)], "m=1/1");
  assert.equal(
    boundLines(found, { maxDollars: undefined, reported }).at(-1),
    "  arXiv:2410.22553 reports about 43 dollars for an attempt: 86.00 for 2",
  );
});
