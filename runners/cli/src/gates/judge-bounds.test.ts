import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeUsage } from "@mlrb/agents/judge/judge-usage";
import type { Instance } from "@mlrb/core/plan/plan";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import type { Request } from "../request/request.ts";
import { judgeStage } from "../testing/judge-stage.ts";
import { refusals } from "./check.ts";
import { costAgreed, overCost } from "./cost-gate.ts";
import type { Deciding } from "./gate.ts";
import { type JudgeBound, judgeAsk, judgeBounds, judgeLines } from "./judge-bounds.ts";
import { keyGate } from "./key-gate.ts";
import { priceGate } from "./price-gate.ts";
import { costWords, totalCost } from "./total-cost.ts";

const openai = { provider: "openai", id: "m" };
const bounds = (starts: Instance[], ...prices: string[]) => judgeBounds(starts, prices) as JudgeBound[];

test("a judge's line names who receives the text of how many attempts, and what its answers cost about", () => {
  const starts = [judgeStage("a", openai, 1), judgeStage("a", openai, 2), judgeStage("a", openai, 2)];
  const { extractCharactersMax: characters, ...ask } = judgeAsk(starts[0]!)!;
  const { inputTokens, outputTokens } = judgeUsage({ ...ask, characters });
  const found = bounds(starts, "m=1000/2000");
  // all of the input may be written to a cache, at twice its price
  assert.equal(
    found[0]!.dollars!.toFixed(6),
    ((3 * (2 * inputTokens * 1000 + outputTokens * 2000)) / 1e6).toFixed(6),
  );
  assert.deepEqual(judgeLines(found), [
    `judge a (provider openai receives the text of 2 attempts): 3 votes, up to about ${found[0]!.dollars!.toFixed(2)} dollars; answers on disk are not bought again`,
  ]);
});

test("free and recorded judges cost nothing, and their lines still name who receives the text", () => {
  const free = judgeStage("a", { provider: "vllm", id: "m", free: true });
  const recorded = judgeStage("b", { provider: "recorded", id: "m" });
  assert.deepEqual(judgeLines(bounds([free, recorded])), [
    "judge a (provider vllm receives the text of 1 attempt): 3 votes, up to about 0.00 dollars",
    "judge b (recorded answers, nothing is sent): 3 votes, up to about 0.00 dollars",
  ]);
});

test("a judge that is only checked gets the text of no attempt", () => {
  const check = { ...judgeStage("a", { ...openai, free: true }), inputs: [] };
  assert.match(judgeLines(bounds([check]))[0]!, /receives the text of labelled trajectories\)/);
});

test("without a known price the dollars are unknown, and the line says how to give the price", () => {
  assert.match(judgeLines(bounds([judgeStage("a", openai)]))[0]!, /: 3 votes, unknown dollars: add --price$/);
});

test("a stage that pays for answers and does not say of which model has no estimate", () => {
  const stage = judgeStage("a", openai);
  const unclear = { ...stage, action: { ...stage.action, params: {} } };
  assert.equal(judgeAsk(unclear), null);
  assert.deepEqual(judgeLines(bounds([unclear])), [
    "judge a (provider unknown receives the text of 1 attempt): 1 vote, unknown dollars: add --price",
  ]);
});

test("answers of a judge count against the limits, with attempts and without", () => {
  const cost = { ...totalCost([]), judges: { stages: 4, dollars: 2.5 } };
  const limits = { gpuHours: 0, dollars: 0 };
  assert.equal(
    renderDiagnostic(overCost(cost, limits)!),
    `over-cost: This would start 4 stages with answers of judges, about 2.50 dollars; the limits are 0 GPU hours and 0 dollars.
  help: raise --max-gpu-hours and --max-cost, or pass --yes; \`pnpm pipeline plan\` with the same pipeline and options lists them`,
  );
  assert.equal(overCost(cost, { gpuHours: 0, dollars: 2.5 }), undefined);
  const both = { ...cost, attempts: 1, dollars: 1 };
  assert.ok(overCost(both, { gpuHours: 0, dollars: 3.4 }), "the two together");
  assert.equal(
    costWords(both),
    "1 attempt, about 0.0 GPU hours and 1.00 dollars, and 4 stages with answers of judges, about 2.50 dollars",
  );
  const unknown = { ...totalCost([]), judges: { stages: 1, dollars: null } };
  assert.ok(overCost(unknown, { gpuHours: 0, dollars: 1000 }));
  assert.equal(costWords(unknown), "1 stage with answers of judges, unknown dollars");
});

test("a paid judge is previewed before it starts, a free one is not", async () => {
  const starts = (stage: Instance) => {
    const plan = { instances: [stage] } as unknown as Request["plan"];
    // without a workspace a preview fails
    return costAgreed({ plan, selected: [0] }, {} as Deciding, { json: true });
  };
  assert.equal(await starts(judgeStage("a", { ...openai, free: true })), true);
  await assert.rejects(starts(judgeStage("a", openai)), TypeError);
});

test("under --max-cost a judge without a known price is refused, at the place of its model", () => {
  const preset = `formatVersion: 1
name: a
title: A model
kind: llm
provider: openai
model: { id: m, contextTokens: 1000 }
`;
  const sources = { read: () => preset, list: () => [], kind: () => undefined };
  const starts = [judgeStage("a", openai, 1), judgeStage("a", openai, 2)];
  const refused = (purse: { prices: string[]; maxDollars?: number }) =>
    refusals(priceGate({ starts, sources, purse, command: "mlrb run x" }));
  assert.equal(
    renderDiagnostic(refused({ prices: [], maxDollars: 1 })[0]!),
    `runners/agents/presets/a.yaml:6:14 no-price: ask[judge=a,seed=1] may spend under --max-cost, 1 more stage likewise, but no price of openai m is known: the limit could not be enforced
  6 | model: { id: m, contextTokens: 1000 }
    |              ^
  help: give the provider's price for a million tokens, in dollars: mlrb run x --price m=INPUT/OUTPUT; or add it to runners/agents/prices.yaml with its date and source; or set \`free: true\` in the preset of an endpoint without a bill`,
  );
  assert.deepEqual(refused({ prices: ["m=1/2"], maxDollars: 1 }), []);
  assert.deepEqual(refused({ prices: [] }), [], "no limit to enforce");
});

test("a judge without its model's key is refused with the variable's name", () => {
  const starts = [judgeStage("a", { ...openai, key: "A_KEY" })];
  const [check] = keyGate({ starts, host: { env: {} } });
  assert.deepEqual(
    [check!.answer, check!.found],
    ["missing", "A_KEY is not set, and ask[judge=a,seed=0] calls models with it"],
  );
});
