// A provider that keeps its connection open without answering is silent, whatever bytes it sends meanwhile.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { askRaw, chatPiece, events, failureOfResult, responseOf } from "../testing/raw-provider.ts";

const idleMs = 300;

/** Writes `text` every 20 ms until the client goes away. */
function drip(to: ServerResponse, text: string | ((round: number) => string)): void {
  let round = 0;
  const timer = setInterval(() => to.write(typeof text === "string" ? text : text(round++)), 20);
  to.on("close", () => clearInterval(timer));
}

const signs: [title: string, provider: string, text: string][] = [
  ["comments", "local", ": ping\n\n"],
  ["OpenRouter's comments", "local", ": OPENROUTER PROCESSING\n\n"],
  ["empty lines", "local", "\n"],
  ["pings", "local", "event: ping\ndata: {}\n\n"],
  ["empty pieces", "local", events(chatPiece({ role: "assistant", content: "" }))],
  [
    "empty pieces with counts",
    "local",
    events(chatPiece({ content: "" }, { usage: { prompt_tokens: 9, completion_tokens: 0 } })),
  ],
  ["Anthropic's pings", "anthropic", events({ type: "ping" })],
  [
    "Anthropic's empty pieces",
    "anthropic",
    events({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "" } }),
  ],
  ["OpenAI's keep-alives", "openai", events({ type: "keepalive", sequence_number: 3 })],
  [
    "OpenAI's status",
    "openai",
    events({
      type: "response.in_progress",
      sequence_number: 1,
      response: { id: "r", status: "in_progress", model: "m" },
    }),
  ],
  [
    "Gemini's empty pieces",
    "google",
    events({
      candidates: [{ index: 0, content: { role: "model", parts: [{ text: "" }] } }],
      usageMetadata: { promptTokenCount: 9, promptTokensDetails: [{ modality: "TEXT", tokenCount: 9 }] },
      modelVersion: "m",
    }),
  ],
];

for (const [title, provider, text] of signs)
  test(`${title} are no part of an answer: the try is idle, and the provider was not heard`, async (t) => {
    let heard = 0;
    const asked = { provider, limits: { idleMs }, heard: () => void heard++ };
    const failure = failureOfResult(await askRaw(t, (to) => drip(to, text), asked));
    assert.deepEqual([failure.cause, failure.whose, heard], ["idle", "provider", 0]);
  });

test("one piece and then comments are idle as well, and an event that comes byte by byte", async (t) => {
  const begun = (to: ServerResponse) => {
    to.write(events(chatPiece({ content: "So" })));
    drip(to, ": ping\n\n");
  };
  assert.equal(failureOfResult(await askRaw(t, begun, { limits: { idleMs } })).cause, "idle");
  const slow = (to: ServerResponse) => drip(to, (round) => `data: ${"x".repeat(1000)}`[round] ?? "x");
  assert.equal(failureOfResult(await askRaw(t, slow, { limits: { idleMs } })).cause, "idle");
});

test("an error's body that never ends is idle", async (t) => {
  const endless = (to: ServerResponse) => {
    to.statusCode = 500;
    drip(to, "x");
  };
  assert.equal(failureOfResult(await askRaw(t, endless, { limits: { idleMs } })).cause, "idle");
});

test("an answer whose pieces come within the limit is taken whole, however long it is", async (t) => {
  let heard = 0;
  const talks = (to: ServerResponse) =>
    drip(to, (round) =>
      round < 30
        ? `: ping\n\n${events(chatPiece({ content: "a" }))}`
        : events(chatPiece({}, {}, { finish_reason: "stop" }), "[DONE]"),
    );
  const ends = (to: ServerResponse) => {
    talks(to);
    setTimeout(() => to.end(), 800);
  };
  const asked = askRaw(t, ends, { limits: { idleMs }, heard: () => void heard++ });
  assert.equal(responseOf(await asked).text, "a".repeat(30));
  assert.ok(heard >= 30);
});

test("a model that thinks for minutes while its provider keeps the connection open has time, but not without end", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const minutes = (count: number) => {
    for (let past = 0; past < count * 60_000; past += 10_000) t.mock.timers.tick(10_000);
  };
  const thinks = (to: ServerResponse, { after }: { after: () => void }) => {
    let pings = 0;
    const timer = setInterval(() => {
      if (pings++ < 3) {
        to.write(": thinking\n\n");
        if (pings > 1) minutes(4);
      } else {
        clearInterval(timer);
        after();
      }
    }, 50);
    to.on("close", () => clearInterval(timer));
  };
  const answers = (to: ServerResponse) =>
    thinks(to, {
      after: () =>
        to.end(events(chatPiece({ content: "So" }), chatPiece({}, {}, { finish_reason: "stop" }), "[DONE]")),
    });
  assert.equal(responseOf(await askRaw(t, answers)).text, "So");
  const never = (to: ServerResponse) => thinks(to, { after: () => minutes(10) });
  assert.equal(failureOfResult(await askRaw(t, never)).cause, "idle");
});
