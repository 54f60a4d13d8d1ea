import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { ModelCallEvent } from "@mlrb/formats/attempt/trajectory";
import type { Reply } from "../../../../tests/support/providers/loopback-provider.ts";
import { type AttemptFacts, attemptLedger } from "../attempt/attempt-ledger.ts";
import { AttemptMeter } from "../attempt/attempt-meter.ts";
import { priceBook } from "../spending/prices.ts";
import { gatewayLab, providersAt } from "../testing/gateway-lab.ts";
import { testClock } from "../testing/test-clock.ts";
import { readAnthropic } from "./answer/read-anthropic.ts";
import { readGoogle } from "./answer/read-google.ts";
import { readOpenaiChat, readOpenaiResponses } from "./answer/read-openai.ts";
import { servedPrice } from "./served-price.ts";

const aliases = [
  ...["claude-3-5-haiku-latest", "claude-opus-4-0", "gemini-flash-lite-latest", "gemini-flash-latest"],
  ...["mistral-small-latest", "gpt-5-latest", "small", "proxied-*"],
];
const said = [
  ...["gpt-test=1/10", "gpt-dear=100/1000", "o3=2/20", "vendor/own=3/3"],
  ...aliases.map((name) => `${name}=4/4`),
];
const prices = priceBook([{ run: null, prices: said }], new Map());
const tokens = { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: null, reasoningTokens: null };

function priceOf(
  model: string,
  served: Parameters<typeof servedPrice>[2],
  { free = false, name = "openai" } = {},
) {
  const { priced, most } = servedPrice({ provider: { name, free }, model }, prices, served);
  return [priced(tokens), most?.(tokens) ?? null];
}

const served: [
  title: string,
  model: string,
  by: Parameters<typeof priceOf>[1],
  dollars: (number | null)[],
][] = [
  ["an answer that names no model costs what was asked for", "gpt-test", {}, [1, null]],
  [
    "an answer by another model costs what that one does",
    "gpt-test",
    { answeredBy: "gpt-dear" },
    [100, null],
  ],
  ["a version of an alias costs what the alias does", "o3", { answeredBy: "o3-2025-04-16" }, [2, null]],
  ["the folder before a name does not matter", "gpt-test", { answeredBy: "models/gpt-test" }, [1, null]],
  ["the vendor before a name does not matter", "vendor/own", { answeredBy: "own" }, [3, null]],
  [
    "an answer by an unknown model has no price; limits count the highest",
    "o3",
    { answeredBy: "o3-pro" },
    [null, 100],
  ],
  [
    "an answer of another tier has no price; limits count the highest",
    "o3",
    { surcharge: "tier x" },
    [null, 100],
  ],
  ["a model that never had a price has none", "gpt-new", { answeredBy: "gpt-other" }, [null, null]],
];

for (const [title, model, by, dollars] of served)
  test(title, () => assert.deepEqual(priceOf(model, by), dollars));

for (const [alias, version] of [
  ["claude-3-5-haiku-latest", "claude-3-5-haiku-20241022"],
  ["claude-opus-4-0", "claude-opus-4-20250514"],
  ["gemini-flash-lite-latest", "models/gemini-2.5-flash-lite-preview-09-2025"],
  ["gemini-flash-latest", "gemini-3-flash-preview"],
  ["mistral-small-latest", "mistral-small-2506"],
] as const)
  test(`${alias} answered by ${version} costs what the alias does`, () => {
    for (const name of ["openai", "mistral"])
      assert.deepEqual(priceOf(alias, { answeredBy: version }, { name }), [4, null]);
  });

for (const [alias, other] of [
  ["gemini-flash-latest", "gemini-2.5-flash-lite-preview-09-2025"],
  ["gemini-flash-lite-latest", "gemini-2.5-flash-preview-09-2025"],
  ["claude-opus-4-0", "claude-opus-4-1-20250805"],
  ["gpt-5-latest", "gpt-5-5-2026-01-01"],
  ["claude-3-5-haiku-latest", "claude-3-5-haiku-pro-20241022"],
  ["mistral-small-latest", "mistral-small"],
  ["o3", "o3-pro"],
  ["small", "Qwen/Qwen3-8B"],
] as const)
  test(`${alias} answered by ${other} has no price at the models' author`, () => {
    for (const name of ["openai", "anthropic", "google"])
      assert.deepEqual(priceOf(alias, { answeredBy: other }, { name }), [null, 100]);
  });

test("a proxy's own name for a model has the price given for exactly that name", () => {
  const proxy = { name: "proxy" };
  const by = (answeredBy: string, more = {}) => ({ answeredBy, ...more });
  assert.deepEqual(priceOf("small", by("Qwen/Qwen3-8B"), proxy), [4, null]);
  assert.deepEqual(priceOf("small", by("gpt-dear"), proxy), [100, null], "a known model has its own price");
  assert.deepEqual(priceOf("small", by("Qwen/Qwen3-8B", { surcharge: "tier x" }), proxy), [null, 100]);
  assert.deepEqual(
    priceOf("proxied-small", by("Qwen/Qwen3-8B"), proxy),
    [null, 100],
    "a prefix is no such name",
  );
  const runs = [
    { run: "new", prices: ["small*=5/5"] },
    { run: "old", prices: ["small=4/4"] },
  ];
  const { hasOwnPrice } = priceBook(runs, new Map());
  assert.deepEqual([hasOwnPrice("proxy", "small"), hasOwnPrice("proxy", "other")], [false, false]);
});

test("a free endpoint is free, whatever it names", () => {
  assert.deepEqual(priceOf("gpt-test", { answeredBy: "gpt-dear", surcharge: "tier x" }, { free: true }), [
    0,
    null,
  ]);
});

const anthropicUsage = (more: object) => ({
  type: "message",
  usage: { input_tokens: 1, output_tokens: 1, ...more },
});
const responseOf = (more: object) => ({
  object: "response",
  usage: { input_tokens: 1, output_tokens: 1 },
  ...more,
});
const googleUsage = (more: object) => ({ usageMetadata: { promptTokenCount: 1, ...more } });
const surcharges: [reader: () => ReturnType<typeof readGoogle>, answer: object, surcharge: string | null][] =
  [
    [
      readAnthropic,
      anthropicUsage({ service_tier: "standard", speed: "standard", inference_geo: "not_available" }),
      null,
    ],
    [
      readAnthropic,
      anthropicUsage({ iterations: [{ type: "message" }], server_tool_use: { web_search_requests: 0 } }),
      null,
    ],
    [readAnthropic, anthropicUsage({ service_tier: "priority" }), "tier priority"],
    [readAnthropic, anthropicUsage({ speed: "fast" }), "speed fast"],
    [readAnthropic, anthropicUsage({ inference_geo: "us" }), "region us"],
    [readAnthropic, anthropicUsage({ server_tool_use: { web_search_requests: 2 } }), "2 web searches"],
    [
      readAnthropic,
      anthropicUsage({ cache_creation: { ephemeral_1h_input_tokens: 1 } }),
      "a cache for an hour",
    ],
    [
      readAnthropic,
      anthropicUsage({ iterations: [{ type: "compaction" }, { type: "message" }] }),
      "a call for compaction",
    ],
    [readOpenaiChat, { service_tier: "default" }, null],
    [readOpenaiChat, { service_tier: null }, null],
    [readOpenaiChat, { service_tier: "priority" }, "tier priority"],
    [readOpenaiChat, { usage: { prompt_tokens_details: { audio_tokens: 4 } } }, "sound"],
    [readOpenaiChat, { choices: [{ message: { content: "x", annotations: [] } }] }, null],
    [readOpenaiChat, { choices: [{ message: { annotations: [{ type: "file" }] } }] }, null],
    [readOpenaiChat, { choices: [{ message: { annotations: [{ type: "url_citation" }] } }] }, "a search"],
    [readOpenaiChat, { choices: [{}, { delta: { annotations: [{ type: "url_citation" }] } }] }, "a search"],
    [readGoogle, googleUsage({}), null],
    [readGoogle, { candidates: [{ groundingMetadata: { groundingChunks: [{ web: {} }] } }] }, null],
    [readGoogle, { candidates: [{ groundingMetadata: { groundingChunks: [{ maps: {} }] } }] }, "a search"],
    [readGoogle, { candidates: [{}, { groundingMetadata: { webSearchQueries: ["x"] } }] }, "a search"],
    [readOpenaiResponses, responseOf({ service_tier: "default" }), null],
    [readOpenaiResponses, responseOf({ service_tier: "flex" }), "tier flex"],
    [readOpenaiResponses, responseOf({ output: [{ type: "web_search_call" }] }), "a web_search_call"],
    [readGoogle, googleUsage({ trafficType: "ON_DEMAND" }), null],
    [readGoogle, googleUsage({ promptTokensDetails: [{ modality: "TEXT" }, { modality: "IMAGE" }] }), null],
    [readGoogle, googleUsage({ serviceTier: "priority" }), "tier priority"],
    [readGoogle, googleUsage({ trafficType: "PROVISIONED_THROUGHPUT" }), "tier PROVISIONED_THROUGHPUT"],
    [readGoogle, googleUsage({ promptTokensDetails: [{ modality: "AUDIO" }] }), "tokens of AUDIO"],
    [readGoogle, googleUsage({ candidatesTokensDetails: [{ modality: "IMAGE" }] }), "tokens of IMAGE"],
  ];

for (const [reader, answer, surcharge] of surcharges)
  test(`${JSON.stringify(answer)} has ${surcharge === null ? "the standard price" : `a surcharge: ${surcharge}`}`, () => {
    const reading = reader();
    reading.take(JSON.parse(JSON.stringify(answer)));
    assert.equal(reading.heard().surcharge ?? null, surcharge);
  });

test("tokens that OpenAI wrote to its cache are counted as written", () => {
  const reading = readOpenaiChat();
  reading.take({
    usage: {
      prompt_tokens: 9,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 5 },
    },
  });
  assert.deepEqual(reading.heard().usage, {
    ...{
      inputTokens: 9,
      outputTokens: 1,
      cachedInputTokens: 2,
      cacheWrittenTokens: 5,
      reasoningTokens: null,
    },
  });
});

const ledgerFacts = {
  ...{ budget: { timeMs: 1 }, wallMs: 1, workingMs: 1, gpus: 0, gpuBusyMs: null, ending: undefined },
  final: { kind: "over-limits" as const, detail: "" },
  trajectory: { digest: "0".repeat(64), lines: 0 },
} as unknown as Omit<AttemptFacts, "spending">;

const usage = { prompt_tokens: 1000, completion_tokens: 100 };
const answerOf = (more: object): Reply => ({
  status: 200,
  body: JSON.stringify({ choices: [{ message: { content: "hi" }, finish_reason: "stop" }], usage, ...more }),
});

for (const [title, more, dollars, counted] of [
  ["the default tier of the requested model", { model: "gpt-test", service_tier: "default" }, 0.002, 0],
  ["a dearer model", { model: "gpt-dear" }, 0.2, 0],
  ["the priority tier", { model: "gpt-test", service_tier: "priority" }, null, 0.2],
  ["a model without a price", { model: "gpt-secret" }, null, 0.2],
] as const)
  test(`an answer of ${title} is charged ${dollars ?? "as unknown"}, and limits count ${dollars ?? counted}`, async (t) => {
    const meter = new AttemptMeter({ limits: { timeMs: 1e9, dollars: 0.1 }, clock: testClock() });
    const { ask, events } = await gatewayLab(t, [answerOf(more)], { meter, prices, providers: providersAt });
    const body = { model: "gpt-test", messages: [{ role: "user", content: "hi" }] };
    await (await ask("openai/v1/chat/completions", body)).text();
    const call = events[0] as ModelCallEvent;
    assert.deepEqual([call.event, call.dollars], ["model-call", dollars]);
    assert.equal(call.surcharge, "service_tier" in more && dollars === null ? "tier priority" : undefined);
    const { dollars: spent, inputTokens, estimated } = meter.spending();
    assert.deepEqual(
      [spent, inputTokens, estimated.dollars, estimated.inputTokens],
      [dollars, 1000, counted, 0],
    );
    assert.equal(
      attemptLedger({ ...ledgerFacts, spending: meter.spending() }).tokens,
      1100,
      "tokens are known",
    );
    assert.equal(meter.over()?.limit, (dollars ?? counted) >= 0.1 ? "dollars" : undefined);
  });

test("the tier that Google names in a header is a surcharge", async (t) => {
  const body = JSON.stringify({
    candidates: [{ content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100 },
  });
  const provider = createServer((_, response) => {
    response
      .writeHead(200, { "content-type": "application/json", "x-gemini-service-tier": "priority" })
      .end(body);
  });
  await new Promise<void>((ready) => provider.listen(0, "127.0.0.1", ready));
  t.after(() => provider.close());
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1beta`;
  const google = { name: "google", protocol: "google" as const, baseUrl, ids: ["gpt-test"], free: false };
  const { ask, events } = await gatewayLab(t, [], { prices, providers: () => [google] });
  const request = { contents: [{ role: "user", parts: [{ text: "hi" }] }] };
  await (await ask("google/v1beta/models/gpt-test:generateContent", request)).text();
  const call = events[0] as ModelCallEvent;
  assert.deepEqual([call.event, call.dollars, call.surcharge], ["model-call", null, "tier priority"]);
});
