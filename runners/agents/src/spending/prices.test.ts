import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import { costOf, priceBook, readPrices } from "./prices.ts";

const { dollarsOf, priceOf } = priceBook([]);

const usage = (some: Partial<ModelUsage>): ModelUsage => ({
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: null,
  reasoningTokens: null,
  ...some,
});
const million = 1_000_000;

test("the models of the paper have the prices of its time", () => {
  const both = usage({ inputTokens: million, outputTokens: million });
  assert.equal(dollarsOf(both, "openai", "gpt-4o-2024-08-06"), 12.5);
  assert.equal(dollarsOf(both, "anthropic", "claude-3-5-sonnet-20240620"), 18);
  assert.equal(dollarsOf(both, "anthropic", "claude-3-5-sonnet-20241022"), 18);
});

test("cached and cache-written tokens are paid once, at their own prices", () => {
  const spent = usage({
    inputTokens: 10 * million,
    cachedInputTokens: 6 * million,
    cacheWrittenTokens: 3 * million,
  });
  assert.equal(dollarsOf(spent, "anthropic", "claude-3-5-sonnet-20241022"), 3 + 6 * 0.3 + 3 * 3.75);
});

test("reasoning is part of the output, not paid twice", () => {
  const spent = usage({ outputTokens: million, reasoningTokens: 900_000 });
  assert.equal(dollarsOf(spent, "openai", "gpt-4o-2024-08-06"), 10);
});

test("a model without a price is unknown, not free, and cached tokens without a price cost as much as others", () => {
  const spent = usage({ inputTokens: 100, outputTokens: 100 });
  assert.equal(dollarsOf(spent, "openai", "gpt-4o"), null);
  assert.equal(dollarsOf(spent, "local", "gpt-4o-2024-08-06"), null);
  assert.equal(dollarsOf({ ...spent, cachedInputTokens: 50 }, "openai", "gpt-4o-2024-05-13"), 0.002);
  assert.equal(priceOf("local", "x"), undefined);
});

test("a request past the limit of a tier pays the tier's price for all of it", () => {
  const [price] = readPrices(
    entry("above: { inputTokens: 1000, input: 2, output: 3 }"),
    "prices.yaml",
  ).values();
  assert.equal(costOf(usage({ inputTokens: 1000, outputTokens: million }), price), 1.001);
  assert.equal(costOf(usage({ inputTokens: 2000, outputTokens: million }), price), 3.004);
});

test("a price of the command line may have a third amount, for cached input", () => {
  const book = priceBook([{ run: null, prices: ["m=2/8/0.5", "n=2/8", "z=0/0/0"] }]);
  const spent = usage({ inputTokens: 10 * million, cachedInputTokens: 6 * million, outputTokens: million });
  assert.equal(book.dollarsOf(spent, "p", "m"), 4 * 2 + 6 * 0.5 + 8);
  assert.equal(book.dollarsOf({ ...spent, cachedInputTokens: null }, "p", "m"), 28, "at most");
  assert.equal(book.dollarsOf(spent, "p", "n"), 28);
  assert.equal(book.dollarsOf(spent, "p", "z"), 0);
  assert.equal(book.used()[0]!.cached, 0.5);
});

test("a price with a wrong number of amounts, or with the amounts in a wrong order, is refused", () => {
  for (const text of ["m=1", "m=1/2/3/4", "m=1/2/", "m=1//2", "m=1/2/x", "m=1.2.3/4/1", "=1/2/1"])
    assert.throws(() => priceBook([{ run: null, prices: [text] }]), /write MODEL=INPUT\/OUTPUT in/u, text);
  assert.throws(() => priceBook([{ run: null, prices: ["m=3/0.3/15"] }]), /order is INPUT\/OUTPUT\/CACHED/u);
});

test("every price has a date and a source, and no cache read is dearer than plain input", () => {
  const path = new URL("../../prices.yaml", import.meta.url);
  const prices = [...readPrices(readFileSync(path, "utf8"), "prices.yaml").values()];
  assert.ok(prices.length > 0);
  for (const { models, asOf, source, input, cached, output } of prices) {
    assert.ok(Date.parse(asOf) > Date.parse("2024-01-01"), models.join());
    assert.match(source, /openai\.com|anthropic\.com|claude\.com|^authored: /u);
    assert.ok((cached ?? 0) < input && input < output, models.join());
  }
});

test("no provider charges an authored price, so it bounds no call at an unknown price", () => {
  const authored = entry("").replace("https://example.org/prices", '"authored: for a sample"');
  const table = readPrices(`${authored.trimEnd()}${dearer}`, "prices.yaml");
  const spent = usage({ inputTokens: million });
  assert.equal(priceBook([], table).dollarsOf(spent, "openai", "m"), 1);
  assert.equal(priceBook([], table).mostDollarsOf(spent), 0.5);
});

const dearer = `
  - provider: other
    models: [m]
    asOf: 2026-01-01
    source: https://example.org/prices
    input: 0.5
    output: 1
`;

test("an entry without its source, with an unknown field or twice is refused with its place", () => {
  const refused: [string, RegExp][] = [
    [entry("").replace(/ +source.*\n/u, ""), /prices\.yaml: .*source/su],
    [entry("price: 3"), /prices\.yaml: .*price/su],
    [entry("").replace("input: 1", "input: -1"), /prices\.yaml: .*input/su],
    [entry("").replace("[m]", "[m, m]"), /openai m has two prices/u],
    [entry("").replace("2026-01-01", "soon"), /asOf/u],
  ];
  for (const [text, what] of refused) assert.throws(() => readPrices(text, "prices.yaml"), what);
});

function entry(more: string): string {
  return `formatVersion: 1
prices:
  - provider: openai
    models: [m]
    asOf: 2026-01-01
    source: https://example.org/prices
    input: 1
    output: 1
    ${more}
`;
}
