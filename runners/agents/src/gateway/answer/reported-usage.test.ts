import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";
import fc from "fast-check";
import { callCharge, tokensAbsurd } from "../../spending/call-charge.ts";
import { costOf } from "../../spending/prices.ts";
import type { AnswerReader } from "./heard-answer.ts";
import { readAnthropic } from "./read-anthropic.ts";
import { readGoogle } from "./read-google.ts";
import { readOpenaiChat, readOpenaiResponses } from "./read-openai.ts";

type Protocol = {
  reader: () => AnswerReader;
  /** An answer with the text "hi" and this usage. */
  answer: (usage: unknown) => object;
  /** The paths of counts in a usage: input, output, and parts of them. */
  counts: { input: string; output: string; parts: string[] };
};

const openaiParts = (input: string, output: string) => [
  ...[`${input}_details.cached_tokens`, `${input}_details.cache_write_tokens`, "total_tokens"],
  ...[`${output}_details.reasoning_tokens`, `${input}_details.audio_tokens`],
];
const protocols: Record<string, Protocol> = {
  chat: {
    reader: readOpenaiChat,
    answer: (usage) => ({ choices: [{ message: { content: "hi" }, finish_reason: "stop" }], usage }),
    counts: {
      ...{ input: "prompt_tokens", output: "completion_tokens" },
      parts: openaiParts("prompt_tokens", "completion_tokens"),
    },
  },
  responses: {
    reader: readOpenaiResponses,
    answer: (usage) => ({
      object: "response",
      status: "completed",
      output: [{ type: "message", content: [{ type: "output_text", text: "hi" }] }],
      usage,
    }),
    counts: {
      ...{ input: "input_tokens", output: "output_tokens" },
      parts: openaiParts("input_tokens", "output_tokens"),
    },
  },
  messages: {
    reader: readAnthropic,
    answer: (usage) => ({ type: "message", content: [{ type: "text", text: "hi" }], usage }),
    counts: {
      ...{ input: "input_tokens", output: "output_tokens" },
      parts: [
        ...["cache_creation_input_tokens", "cache_read_input_tokens", "server_tool_use.web_search_requests"],
        "cache_creation.ephemeral_1h_input_tokens",
      ],
    },
  },
  generateContent: {
    reader: readGoogle,
    answer: (usageMetadata) => ({
      candidates: [{ content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }],
      usageMetadata,
    }),
    counts: {
      ...{ input: "promptTokenCount", output: "candidatesTokenCount" },
      parts: [
        ...["cachedContentTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount"],
        "totalTokenCount",
      ],
    },
  },
};

function usageOf(values: Record<string, unknown>): object {
  const usage: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const [outer = "", inner] = path.split(".");
    if (inner === undefined) usage[outer] = value;
    else usage[outer] = { ...(usage[outer] as object | undefined), [inner]: value };
  }
  return usage;
}

function heardOf({ reader, answer }: Protocol, ...usages: unknown[]) {
  const reading = reader();
  for (const usage of usages) reading.take(JSON.parse(JSON.stringify(answer(usage))) as Json);
  return reading.heard();
}

const price = { input: 2, cached: 0.2, cacheWrite: 2.5, output: 10 } as Parameters<typeof costOf>[1];
const priced = (usage: ModelUsage) => costOf(usage, price);
const bound = { inputTokens: 100, outputTokens: 50 };

function chargeOf(usage: ModelUsage | null) {
  const charge = callCharge({ usage, answered: true, tokens: "maybe" }, bound, priced);
  return { ...charge, counted: (charge.dollars ?? 0) + (charge.estimated?.dollars ?? 0) };
}

const count = fc.integer({ min: 0, max: 5000 });
const odd = fc.oneof(
  fc.integer({ min: -1e9, max: -1 }),
  fc.constantFrom(1e308, 2 ** 53, tokensAbsurd + 1, 0.5, -0.5),
  fc.constantFrom("5", "", "NaN", true, false, null),
  fc.array(count, { maxLength: 2 }),
  fc.dictionary(fc.string(), count, { maxKeys: 2 }),
);

for (const [name, protocol] of Object.entries(protocols)) {
  const { input, output, parts } = protocol.counts;
  const any = (value: fc.Arbitrary<unknown>) =>
    fc.record(Object.fromEntries([input, output, ...parts].map((path) => [path, value])), {
      requiredKeys: [],
    });

  test(`${name}: whatever a usage holds, its charge is a count or unknown, and its dollars are not negative`, () => {
    fc.assert(
      fc.property(any(fc.oneof(count, odd)), fc.oneof(odd, fc.constant("whole")), (values, instead) => {
        const { usage, dollars, counted, estimated } = chargeOf(
          heardOf(protocol, instead === "whole" ? usageOf(values) : instead).usage,
        );
        for (const one of Object.values(usage ?? {})) assert.ok(one === null || Number.isInteger(one));
        assert.ok(dollars === null || dollars >= 0);
        if (usage === null)
          assert.ok(estimated !== undefined && counted > 0, "an unknown usage is estimated");
      }),
    );
  });

  test(`${name}: no part of a usage makes an answer cheaper than its tokens at the lowest rate`, () => {
    fc.assert(
      fc.property(any(fc.oneof(count, odd)), count, count, (values, prompt, answer) => {
        const { usage } = heardOf(protocol, usageOf({ ...values, [input]: prompt, [output]: answer }));
        const { counted, usage: charged } = chargeOf(usage);
        if (charged === null) return;
        assert.ok(charged.inputTokens >= prompt && charged.outputTokens >= answer);
        assert.ok(counted >= (prompt * 0.2 + answer * 10) / 1e6 - 1e-12);
      }),
    );
  });

  test(`${name}: a later report with smaller counts does not lower the usage of a stream`, () => {
    const usage = (prompt: number, answer: number) => usageOf({ [input]: prompt, [output]: answer });
    const stream = name === "responses" ? [usage(90, 40)] : [usage(90, 40), usage(1, 2)];
    const { usage: heard } = heardOf(protocol, ...stream);
    assert.deepEqual([heard?.inputTokens, heard?.outputTokens], [90, 40]);
  });

  test(`${name}: output that came and counts as 0 tokens is unknown`, () => {
    assert.equal(heardOf(protocol, usageOf({ [input]: 9, [output]: 0 })).usage, null);
  });

  if (name !== "responses")
    test(`${name}: a count that a later event turns into none is unknown, not the count before it`, () => {
      for (const later of [-5, "7", 1e300, 2.5, {}]) {
        const usages = [usageOf({ [input]: 9, [output]: 3 }), usageOf({ [input]: later, [output]: 3 })];
        assert.equal(chargeOf(heardOf(protocol, ...usages).usage).usage, null, JSON.stringify(later));
      }
    });
}

test("tokens that a total counts and no sum does are output", () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 40 };
  assert.equal(heardOf(protocols.chat!, usage).usage?.outputTokens, 30);
});

test("reasoning that is larger than the output, or a cache larger than the input, was left out of it", () => {
  const usage = {
    ...{ prompt_tokens: 10, completion_tokens: 5 },
    prompt_tokens_details: { cached_tokens: 100 },
    completion_tokens_details: { reasoning_tokens: 70 },
  };
  assert.deepEqual(heardOf(protocols.chat!, usage).usage, {
    ...{ inputTokens: 110, outputTokens: 75, cachedInputTokens: 100, reasoningTokens: 70 },
  });
});

for (const [name, answer, surcharge] of [
  ["chat", { service_tier: 5 }, "tier 5"],
  ["chat", { service_tier: { name: "fast" } }, 'tier {"name":"fast"}'],
  ["responses", { object: "response", service_tier: ["priority"] }, 'tier ["priority"]'],
  ["messages", { type: "message", usage: { speed: 2 } }, "speed 2"],
  ["messages", { type: "message", usage: { inference_geo: ["us"] } }, 'region ["us"]'],
  [
    "messages",
    { type: "message", usage: { server_tool_use: { web_search_requests: "2" } } },
    "2 web searches",
  ],
  ["generateContent", { usageMetadata: { trafficType: 1 } }, "tier 1"],
  ["generateContent", { usageMetadata: { promptTokensDetails: [{ modality: "VIDEO" }] } }, "tokens of VIDEO"],
] as const)
  test(`${name}: ${JSON.stringify(answer)} has a surcharge, though its value is of another type`, () => {
    const reading = protocols[name]!.reader();
    reading.take(JSON.parse(JSON.stringify(answer)));
    assert.equal(reading.heard().surcharge, surcharge);
  });

test("a model's name that is no text, or very long, is recorded as another model", () => {
  for (const [model, name] of [
    [5, "5"],
    [{ id: "gpt-test" }, '{"id":"gpt-test"}'],
    ["x".repeat(1000), "x".repeat(200)],
  ] as const) {
    const reading = readOpenaiChat();
    reading.take({ model } as Json);
    assert.equal(reading.heard().answeredBy, name);
  }
});
