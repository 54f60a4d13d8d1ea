import assert from "node:assert/strict";
import { test } from "node:test";
import { priceBook } from "../spending/prices.ts";
import { dollarsBound } from "./dollars-bound.ts";

const prices = priceBook([{ run: null, prices: ["m=2/8", "p=10/20", "free=0/0"] }]);
const model = { id: "m", contextTokens: 100_000, maxOutputTokens: 10_000 };
const llm = (more: object = {}) => ({ preset: { kind: "llm", provider: "x", model, ...more } });
const bound = (params: object, budget: object = {}) =>
  dollarsBound({ params: params as Parameters<typeof dollarsBound>[0]["params"], budget }, prices);

test("a limit of dollars is the bound, whether prices are known or not", () => {
  const known = { kind: "known", dollars: 20, by: "its limit of dollars" };
  assert.deepEqual(bound(llm(), { dollars: 20, tokens: 1 }), known);
  assert.deepEqual(bound(llm({ model: { ...model, id: "secret" } }), { dollars: 20 }), known);
});

test("a limit of tokens costs at most all of them at the dearest price of any model", () => {
  const found = bound(llm(), { tokens: 1_000_000 });
  assert.deepEqual(found, { kind: "known", dollars: 8, by: "its limit of 1000000 tokens" });
  const planner = { ...model, id: "p", provider: "x" };
  assert.equal((bound(llm({ planner }), { tokens: 1_000_000 }) as { dollars: number }).dollars, 20);
});

test("without a limit each possible call fills the context and is answered at full length", () => {
  const found = bound(llm({ turnsMax: 10 }));
  // input at twice its price: written to a cache
  const each = (100_000 * 2 * 2 + 10_000 * 8) / 1e6;
  assert.deepEqual(found, { kind: "known", dollars: 10 * each, by: "10 calls of up to 100000 tokens" });
  assert.equal((bound(llm({ turnsMax: null })) as { dollars: number }).dollars, 5000 * each);
  const planner = { ...model, id: "p", provider: "x" };
  const dearer = (100_000 * 2 * 10 + 10_000 * 20) / 1e6;
  assert.equal((bound(llm({ turnsMax: 10, planner })) as { dollars: number }).dollars, 10 * dearer);
});

test("a model without a price, and a program that chooses the size of its calls, have no bound", () => {
  const unknown = bound(llm({ model: { ...model, id: "secret" } }));
  assert.deepEqual(unknown, { kind: "unpriced", models: [{ provider: "x", id: "secret", free: false }] });
  const gateway = { preset: { kind: "command", gateway: [{ provider: "x", ids: ["m"] }] } };
  assert.deepEqual(bound(gateway), { kind: "unlimited" });
  assert.equal((bound(gateway, { tokens: 1_000_000 }) as { dollars: number }).dollars, 8);
  assert.deepEqual(bound(llm({ model: { id: "m" } })), { kind: "unlimited" }, "its context is unknown");
});
