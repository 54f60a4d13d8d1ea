import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { readAnswer } from "../gateway/answer/read-answer.ts";
import { askRaw, chatPiece, events, failureOfResult, responseOf } from "../testing/raw-provider.ts";

const counts = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
const chat = (usage: object) =>
  events(
    chatPiece({ content: "So" }),
    chatPiece({}, {}, { finish_reason: "stop" }),
    { ...chatPiece({}), choices: [], usage },
    "[DONE]",
  );

const cached: [title: string, usage: object, expected: number | null][] = [
  ["OpenAI's details", { prompt_tokens_details: { cached_tokens: 40 } }, 40],
  ["OpenAI's details of 0", { prompt_tokens_details: { cached_tokens: 0 } }, 0],
  ["DeepSeek's hits", { prompt_cache_hit_tokens: 40, prompt_cache_miss_tokens: 60 }, 40],
  ["Moonshot's count", { cached_tokens: 40 }, 40],
  ["LiteLLM's count", { cache_read_input_tokens: 40 }, 40],
  ["two equal counts", { prompt_tokens_details: { cached_tokens: 40 }, prompt_cache_hit_tokens: 40 }, 40],
  [
    "two different counts",
    { prompt_tokens_details: { cached_tokens: 0 }, prompt_cache_hit_tokens: 40 },
    null,
  ],
  ["a name that is not known", { tokens_from_cache: 40 }, null],
  ["no name", {}, null],
  ["details of null", { prompt_tokens_details: null }, null],
  ["no count", { prompt_tokens_details: { cached_tokens: null }, cached_tokens: -1 }, null],
];
for (const [title, more, expected] of cached)
  test(`cache hits by ${title} are ${expected}, for a scaffold and behind the gateway`, async (t) => {
    const usage = { ...counts, ...more };
    const answer = responseOf(await askRaw(t, (to) => to.end(chat(usage))));
    assert.deepEqual([answer.usage?.inputTokens, answer.usage?.cachedInputTokens], [100, expected]);
    const reader = readAnswer("openai-chat");
    reader.take(JSON.stringify({ choices: [{ message: { content: "So" }, finish_reason: "stop" }], usage }));
    assert.equal(reader.heard().usage?.cachedInputTokens, expected);
  });

test("Gemini's and Anthropic's cache hits are counted by their own names", async (t) => {
  const gemini = (more: object) =>
    events({
      candidates: [{ content: { parts: [{ text: "So" }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, ...more },
    });
  for (const [more, expected] of [
    [{ cachedContentTokenCount: 40 }, 40],
    [{}, null],
  ] as const) {
    const answer = responseOf(await askRaw(t, (to) => to.end(gemini(more)), { provider: "google" }));
    assert.equal(answer.usage?.cachedInputTokens, expected);
  }
});

test("a key twice in a scaffold's answer makes its usage unknown, and keeps its text", async (t) => {
  const body = chat(counts).replace(
    '"completion_tokens":10',
    '"completion_tokens":900,"completion_tokens":1',
  );
  const answer = responseOf(await askRaw(t, (to) => to.end(body)));
  assert.deepEqual([answer.text, answer.usage], ["So", null]);
  const cut = failureOfResult(
    await askRaw(t, (to) => to.end(body.replace('"finish_reason":"stop"', '"x":1'))),
  );
  assert.equal(cut.usage, null);
});

for (const [provider, first] of [
  ["local", chatPiece({ content: "So" }, { usage: counts })],
  [
    "google",
    {
      candidates: [{ content: { parts: [{ text: "So" }] } }],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10 },
    },
  ],
] as const)
  test(`${provider}: usage that came before an answer broke off or fell silent is kept`, async (t) => {
    for (const ends of [true, false]) {
      const result = await askRaw(
        t,
        (to) => {
          to.write(events(first, { ...first, usage: undefined, usageMetadata: undefined }));
          if (ends) setTimeout(() => to.destroy(), 50);
        },
        { provider, limits: { idleMs: 300 } },
      );
      const { usage } = failureOfResult(result);
      assert.deepEqual([usage?.inputTokens, usage?.outputTokens], [100, 10]);
    }
  });

test("an answer that no model can have written is the provider's, also behind gzip", async (t) => {
  const piece = events(chatPiece({ content: "x".repeat(1 << 20) }));
  const bodies = [events(chatPiece({ content: "x".repeat(40 << 20) })), piece.repeat(200)];
  for (const body of bodies) {
    const packed = gzipSync(body, { level: 1 });
    const result = await askRaw(t, (to) => to.setHeader("content-encoding", "gzip").end(packed));
    const { cause, whose } = failureOfResult(result);
    assert.deepEqual([cause, whose], ["garbage", "provider"]);
  }
});
