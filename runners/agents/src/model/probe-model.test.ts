import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  type LoopbackProvider,
  type Reply,
  startLoopbackProvider,
} from "../../../../tests/support/providers/loopback-provider.ts";
import { priceBook } from "../spending/prices.ts";
import { probeModel, probeToolCall, toolCallBound } from "./probe-model.ts";

const open: LoopbackProvider[] = [];
after(() => Promise.all(open.map((one) => one.close())));

async function probe(provider: string, reply: Reply, key?: string) {
  const server = await startLoopbackProvider({ script: [reply] });
  open.push(server);
  const spec = { provider, id: "some-model", baseUrl: server.baseUrl, contextTokens: 1000, key: "KEY" };
  return {
    server,
    probed: await probeModel(spec, key ?? server.key, { timeoutMs: "hang" in reply ? 300 : 20_000 }),
  };
}

for (const provider of ["openai", "anthropic", "local"]) {
  test(`${provider}: a model that answers works, with any answer, for a few tokens`, async () => {
    for (const reply of [
      { text: "yes" },
      { text: "y", finish: "length" },
      { text: "no", finish: "refusal" },
    ] as Reply[]) {
      const { server, probed } = await probe(provider, reply);
      assert.deepEqual([probed.answer, probed.wayOut], ["works", null]);
      const { max_tokens, max_output_tokens } = server.seen[0]!.body;
      assert.ok(Number(max_tokens ?? max_output_tokens) <= 16);
    }
    const { probed } = await probe(provider, { text: "yes", answeredBy: "some-model-2026-01-01" });
    assert.match(probed.found, /as some-model-2026-01-01/u);
  });

  const failures: [Reply, string, RegExp][] = [
    [{ status: 404, complaint: "retired-model" }, "retired", /some-model/u],
    [{ status: 404 }, "retired", /retired, misspelt, or not available to this key/u],
    [{ status: 403 }, "refused-key", /\S/u],
    [{ status: 429 }, "busy", /rate limit/iu],
    [{ status: 529 }, "busy", /overloaded/iu],
    [{ status: provider === "anthropic" ? 400 : 429, complaint: "no-money" }, "no-money", /credit|quota/u],
    [{ hang: true }, "unreachable", /no byte came|did not answer/u],
    [{ garbage: true }, "unreachable", /\S/u],
    [{ status: 400 }, "unclear", /\S/u],
  ];
  for (const [reply, answer, found] of failures)
    test(`${provider}: ${JSON.stringify(reply)} is reported as ${answer}, with a way out`, async () => {
      const { probed } = await probe(provider, reply);
      assert.equal(probed.answer, answer, probed.found);
      assert.match(probed.found, found);
      assert.ok(probed.wayOut);
    });
}

test("a deprecation in the provider's words is reported as retired", async () => {
  const { probed } = await probe("openai", { status: 404, complaint: "retired-model" });
  assert.match(probed.found, /it is retired \(.*deprecated/u);
});

test("an unset key is reported without a request, a wrong one by the provider", async () => {
  const none = await probe("openai", { text: "never" }, "");
  assert.deepEqual([none.probed.answer, none.server.seen.length], ["no-key", 0]);
  assert.match(none.probed.found, /KEY is not set/u);
  const wrong = await probe("anthropic", { text: "never" }, "sk-not-this-one");
  assert.equal(wrong.probed.answer, "refused-key");
  assert.ok(!JSON.stringify(wrong.probed).includes("sk-not-this-one"));
});

test("a stopped server is unreachable, and an incomplete spec is reported with the missing field", async () => {
  const server = await startLoopbackProvider({ script: [] });
  await server.close();
  const spec = { provider: "ollama", id: "qwen", contextTokens: 1000 };
  const gone = await probeModel({ ...spec, baseUrl: server.baseUrl }, undefined);
  assert.equal(gone.answer, "unreachable");
  assert.match(gone.wayOut!, /is it started/u);
  assert.match((await probeModel(spec, undefined)).found, /needs `baseUrl`/u);
});

async function probeTool(provider: string, reply: Reply, id = "some-model") {
  const server = await startLoopbackProvider({ script: [reply] });
  open.push(server);
  const spec = { provider, id, baseUrl: server.baseUrl, contextTokens: 1000, key: "KEY", temperature: 0 };
  const prices = priceBook([{ run: null, prices: ["priced-model=10/20"] }]);
  return { server, probed: await probeToolCall(spec, server.key, { prices, timeoutMs: 20_000 }) };
}

const call = { text: "", toolCalls: [{ name: "report", input: { word: "ready" } }] };

for (const provider of ["openai", "anthropic", "local"])
  test(`${provider}: a model that calls the tool works, and its answer has a cost`, async () => {
    const usage = { input: 100, output: 50 };
    const { server, probed } = await probeTool(provider, { ...call, usage }, "priced-model");
    assert.equal(probed.answer, "works", probed.found);
    assert.match(probed.found, /100 \+ 50 tokens, 0\.0020 dollars; it called a tool/);
    assert.deepEqual([server.seen.length, server.seen[0]!.tools], [1, ["report"]]);
    assert.equal(server.seen[0]!.body.temperature, 0, "the preset's own settings");
    const sent = JSON.stringify(server.seen[0]!.body).length;
    assert.ok(
      toolCallBound({ provider, id: "x", contextTokens: 1 }).inputTokens > sent / 4,
      "the bound covers the request",
    );
  });

test("a planner is asked for words, since no scaffold gives it tools", async () => {
  const server = await startLoopbackProvider({ script: [{ text: "yes" }] });
  open.push(server);
  const spec = { provider: "openai", id: "m", baseUrl: server.baseUrl, contextTokens: 1000, key: "KEY" };
  const prices = priceBook([]);
  const probed = await probeToolCall(spec, server.key, { prices, timeoutMs: 20_000, tools: false });
  assert.equal(probed.answer, "works", probed.found);
  assert.deepEqual(server.seen[0]!.tools, []);
});

test("the bound of a tool call has a budget for thinking, which clients add to the answer's limit", () => {
  const spec = { provider: "anthropic", id: "m", contextTokens: 1000, maxOutputTokens: 1024 };
  const options = { thinking: { type: "enabled", budgetTokens: 16_000 } };
  assert.equal(toolCallBound(spec).outputTokens, 1024);
  assert.equal(toolCallBound({ ...spec, options }).outputTokens, 17_024);
});

test("a model that answers a request for a tool call with words has failed, though its words cost money", async () => {
  const { probed } = await probeTool("openai", { text: "I cannot call tools." }, "priced-model");
  assert.equal(probed.answer, "no-tool-call");
  assert.match(probed.found, /dollars; it was asked to call a tool and did not \(finish: stop\)/);
  assert.match(probed.wayOut!, /models that call tools/);
});

test("without a report of tokens the cost of a tool call is an upper bound, and without a price unknown", async () => {
  const priced = await probeTool("openai", { ...call, usage: null }, "priced-model");
  assert.match(priced.probed.found, /tokens not reported, at most 0\.0\d+ dollars/);
  const unpriced = await probeTool("openai", call);
  assert.match(unpriced.probed.found, /tokens at an unknown price; it called a tool/);
});
