import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelCallEvent } from "@mlrb/formats/attempt/trajectory";
import { AttemptMeter } from "../../attempt/attempt-meter.ts";
import { gatewayLab } from "../../testing/gateway-lab.ts";
import { testClock } from "../../testing/test-clock.ts";
import type { CallFormat } from "../route-request.ts";
import { readAnswer } from "./read-answer.ts";

const twice: Record<CallFormat, [whole: string, unclear: string]> = {
  "openai-chat": [
    '"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]',
    '"usage":{"prompt_tokens":9,"completion_tokens":900,"completion_tokens":1}',
  ],
  "openai-responses": [
    '"object":"response","status":"completed"',
    '"usage":{"input_tokens":9,"output_tokens":3},"us\\u0061ge":{"input_tokens":1,"output_tokens":1}',
  ],
  anthropic: [
    '"type":"message","content":[{"type":"text","text":"hi"}]',
    '"usage":{"input_tokens":9,"output_tokens":1},"model":"dear","model":"cheap"',
  ],
  google: [
    '"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]',
    '"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":3,"promptTokenCount":1}',
  ],
};

for (const [format, [whole, unclear]] of Object.entries(twice))
  test(`${format}: an answer with a key twice has an unknown usage and price, and keeps its text`, () => {
    const reader = readAnswer(format as CallFormat);
    assert.ok(reader.take(`{${whole},${unclear}}`));
    const { usage, surcharge, text } = reader.heard();
    assert.equal(usage, null);
    assert.match(surcharge!, /^unclear JSON: the key .* appears twice/);
    if (format !== "openai-responses") assert.equal(text, "hi");
  });

test("a key twice in any event of a stream makes the whole answer's usage unknown", () => {
  const reader = readAnswer("openai-chat");
  reader.take('{"choices":[],"model":"a","model":"b"}');
  reader.take('{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}');
  assert.equal(reader.heard().usage, null);
});

test("equal keys in different objects, and in a text, are clear", () => {
  const reader = readAnswer("openai-chat");
  reader.take(
    '{"choices":[{"message":{"content":"{\\"a\\":1,\\"a\\":2}"}},{"message":{"content":"x"}}],"usage":{"prompt_tokens":9,"completion_tokens":3}}',
  );
  assert.deepEqual([reader.heard().usage?.inputTokens, reader.heard().surcharge], [9, undefined]);
});

test("an answer with a key twice reaches the program byte for byte, and limits count its most", async (t) => {
  const [whole, unclear] = twice["openai-chat"];
  const body = `{${whole},${unclear}}`;
  const meter = new AttemptMeter({ limits: { timeMs: 1e9 }, clock: testClock() });
  const { ask, events, failures } = await gatewayLab(t, [{ status: 200, body }], { meter });
  const chat = { model: "gpt-test", max_tokens: 70, messages: [{ role: "user", content: "hi" }] };
  assert.equal(await (await ask("openai/v1/chat/completions", chat)).text(), body);
  const call = events[0] as ModelCallEvent;
  assert.deepEqual([call.event, call.text, call.usage, call.dollars], ["model-call", "hi", null, null]);
  assert.equal(meter.spending().estimated.outputTokens, 70);
  assert.deepEqual(failures, []);
});

test("choices that were not asked for are no part of a chat's answer, in any order", () => {
  const reader = readAnswer("openai-chat");
  const foreign = { index: 1, delta: { content: "foreign" }, finish_reason: "length" };
  const own = (more: object) => ({ index: 0, delta: { content: "own" }, finish_reason: null, ...more });
  for (const choices of [[foreign], [foreign, own({})], [own({ finish_reason: "stop" })]])
    reader.take(JSON.stringify({ choices }));
  const { text, finish, whole } = reader.heard();
  assert.deepEqual([text, finish, whole], ["ownown", "stop", true]);
});

test("a chat that its server gave up is not whole, and one that it ended for its model's words is", () => {
  for (const [native, whole] of [
    ["error", false],
    ["MALFORMED_FUNCTION_CALL", true],
  ] as const) {
    const reader = readAnswer("openai-chat");
    const choice = { delta: { content: "So" }, finish_reason: "error", native_finish_reason: native };
    reader.take(JSON.stringify({ choices: [choice] }));
    assert.equal(reader.heard().whole, whole);
  }
});
