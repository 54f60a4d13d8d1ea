// Who is responsible for an answer that ended early: the model, or its provider.
import assert from "node:assert/strict";
import { test } from "node:test";
import { askRaw, chatPiece, events, failureOfResult, responseOf } from "../testing/raw-provider.ts";

const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 };
const gemini = (finishReason: string, parts: object[] = [], more: object = {}) =>
  events({ candidates: [{ content: { role: "model", parts }, finishReason, ...more }], usageMetadata });

for (const reason of [
  ...["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"],
  ...["LANGUAGE", "OTHER", "A_REASON_OF_NEXT_YEAR"],
])
  test(`Gemini's ${reason} is an answer of the model that says so, with its usage`, async (t) => {
    const body = gemini(reason, [], { finishMessage: "print(default_api.shell(" });
    const answer = responseOf(await askRaw(t, (to) => to.end(body), { provider: "google" }));
    assert.equal(answer.finish, "other");
    assert.match(answer.text, new RegExp(`${reason}: print\\(default_api`, "u"));
    assert.equal(answer.usage?.inputTokens, 100);
    assert.equal(answer.raw, undefined, "the text differs from the provider's parts");
  });

test("text before a malformed call stays, and calls that came whole are made", async (t) => {
  const said = gemini("MALFORMED_FUNCTION_CALL", [{ text: "I look." }]);
  const answer = responseOf(await askRaw(t, (to) => to.end(said), { provider: "google" }));
  assert.match(answer.text, /^I look\.\n.*MALFORMED_FUNCTION_CALL/u);
  const called = gemini("MALFORMED_FUNCTION_CALL", [{ functionCall: { name: "shell", args: {} } }]);
  const made = responseOf(await askRaw(t, (to) => to.end(called), { provider: "google" }));
  assert.deepEqual([made.text, made.toolCalls.length, made.finish], ["", 1, "other"]);
});

for (const reason of ["RECITATION", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"])
  test(`Gemini's ${reason} is a refusal`, async (t) => {
    const answer = responseOf(await askRaw(t, (to) => to.end(gemini(reason)), { provider: "google" }));
    assert.equal(answer.finish, "refusal");
  });

for (const [reason, finish] of [
  ["refusal", "refusal"],
  ["pause_turn", "stop"],
  ["model_context_window_exceeded", "length"],
  ["a_reason_of_next_year", "other"],
] as const)
  test(`Anthropic's ${reason} is an answer`, async (t) => {
    const message = { id: "m", type: "message", role: "assistant", model: "m", content: [] };
    const body = events(
      { type: "message_start", message: { ...message, usage: { input_tokens: 9, output_tokens: 1 } } },
      { type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 2 } },
      { type: "message_stop" },
    );
    const answer = responseOf(await askRaw(t, (to) => to.end(body), { provider: "anthropic" }));
    assert.equal(answer.finish, finish);
  });

const chatEnd = (choice: object) => events(chatPiece({ content: "So" }), chatPiece({}, {}, choice), "[DONE]");

for (const reason of ["repetition", "eos_token", "model_length"])
  test(`an end that a chat server calls ${reason} is the model's, and its text stays as it is`, async (t) => {
    const answer = responseOf(await askRaw(t, (to) => to.end(chatEnd({ finish_reason: reason }))));
    assert.deepEqual([answer.finish, answer.text], ["other", "So"]);
  });

test("OpenRouter's error is the model's answer if the model's own provider ended it by a malformed call", async (t) => {
  const malformed = { finish_reason: "error", native_finish_reason: "MALFORMED_FUNCTION_CALL" };
  const answer = responseOf(await askRaw(t, (to) => to.end(chatEnd(malformed))));
  assert.deepEqual([answer.finish, answer.text.startsWith("So")], ["other", true]);
  const lost = { finish_reason: "error", native_finish_reason: "error" };
  assert.equal(failureOfResult(await askRaw(t, (to) => to.end(chatEnd(lost)))).whose, "provider");
});

for (const reason of ["error", "abort", "insufficient_system_resource"])
  test(`an end that a server calls ${reason} is its provider's, before and after text`, async (t) => {
    const failed = failureOfResult(await askRaw(t, (to) => to.end(chatEnd({ finish_reason: reason }))));
    assert.deepEqual([failed.cause, failed.whose], ["cut-stream", "provider"]);
    const bare = events(chatPiece({}, {}, { finish_reason: reason }), "[DONE]");
    assert.equal(failureOfResult(await askRaw(t, (to) => to.end(bare))).whose, "provider");
  });

test("a stream without a choice, and one that is no JSON, stay the provider's", async (t) => {
  for (const body of [events({ id: "c", choices: [] }, "[DONE]"), events("{half")])
    assert.equal(failureOfResult(await askRaw(t, (to) => to.end(body))).whose, "provider");
});

test("choices that were not asked for are no part of the answer, in any order", async (t) => {
  const foreign = { index: 1, delta: { content: "foreign" }, finish_reason: "length" };
  const own = chatPiece({ content: "own" });
  const body = events(
    { ...own, choices: [foreign] },
    { ...own, choices: [foreign, ...own.choices] },
    chatPiece({}, {}, { finish_reason: "stop" }),
    "[DONE]",
  );
  const answer = responseOf(await askRaw(t, (to) => to.end(body)));
  assert.deepEqual([answer.text, answer.finish], ["own", "stop"]);
});
