import assert from "node:assert/strict";
import { test } from "node:test";
import { readGoogle } from "./read-google.ts";

// forms: ai.google.dev/api/generate-content
const usageMetadata = {
  promptTokenCount: 100,
  candidatesTokenCount: 10,
  thoughtsTokenCount: 5,
  cachedContentTokenCount: 40,
};
const piece = (parts: object[], more: object = {}) => ({ candidates: [{ content: { parts }, ...more }] });

test("Google's answers are read the same as pieces of a stream and as one list", () => {
  const pieces = [
    piece([{ text: "I think", thought: true }]),
    piece([{ text: "Well." }, { functionCall: { name: "shell", args: { command: "ls" } } }]),
    { ...piece([], { finishReason: "STOP" }), usageMetadata, modelVersion: "gemini-x" },
  ];
  const streamed = readGoogle();
  for (const one of pieces) streamed.take(one as never);
  const listed = readGoogle();
  listed.take(pieces as never);
  assert.deepEqual(listed.heard(), streamed.heard());
  assert.deepEqual(streamed.heard(), {
    ...{
      text: "Well.",
      reasoning: "I think",
      finish: "tool-calls",
      answeredBy: "gemini-x",
      whole: true,
      complaint: null,
    },
    toolCalls: [{ id: "", name: "shell", input: '{"command":"ls"}' }],
    usage: { inputTokens: 100, outputTokens: 15, cachedInputTokens: 40, reasoningTokens: 5 },
  });
});

test("a prompt that Google blocks is a refusal, and a stream without an end is not whole", () => {
  const blocked = readGoogle();
  blocked.take({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata });
  assert.deepEqual([blocked.heard().finish, blocked.heard().whole], ["refusal", true]);
  const cut = readGoogle();
  cut.take(piece([{ text: "We" }]) as never);
  assert.equal(cut.heard().whole, false);
});

test("output that Google sends and does not count is unknown, not 0 tokens", () => {
  const answer = readGoogle();
  const said = piece([{ text: "Well." }], { finishReason: "STOP" });
  answer.take({ ...said, usageMetadata: { promptTokenCount: 100 } } as never);
  assert.equal(answer.heard().usage, null);
  const blocked = readGoogle();
  blocked.take({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 100 } });
  assert.deepEqual([blocked.heard().usage?.inputTokens, blocked.heard().usage?.outputTokens], [100, 0]);
});
