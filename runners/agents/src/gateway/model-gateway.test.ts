import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { FailureOwner } from "@mlrb/formats/attempt/failure-owner";
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import type { ModelCallEvent, ModelTryEvent } from "@mlrb/formats/attempt/trajectory";
import { until } from "../../../../tests/support/processes.ts";
import type { Reply } from "../../../../tests/support/providers/loopback-provider.ts";
import { AttemptMeter } from "../attempt/attempt-meter.ts";
import { gatewayLab, realKey, token } from "../testing/gateway-lab.ts";
import { testClock } from "../testing/test-clock.ts";

const closed = (socket: Socket) => new Promise((resolve) => socket.once("close", resolve));
const user = (content: unknown) => [{ role: "user", content }];
const chat = { model: "gpt-test", messages: user("hi") };
const claude = { model: "claude-test", max_tokens: 100, messages: user("hi") };
const calls = [{ name: "shell", input: { command: "ls" } }];
const usage = { input: 100, output: 20, cached: 30 };

const ways = [
  ["chat completions", "openai/v1/chat/completions", chat],
  ["responses", "openai/v1/responses", { model: "o-test-1", input: user("hi") }],
  ["messages", "anthropic/v1/messages", claude],
] as const;

for (const [title, path, body] of ways)
  for (const stream of [false, true])
    test(`${title}${stream ? ", streamed," : ""} reach the provider with its key, are counted and recorded`, async (t) => {
      const { ask, provider, spent, events } = await gatewayLab(t, [
        { text: "Well.", toolCalls: calls, usage },
      ]);
      const answer = await ask(
        path,
        { ...body, ...(stream && { stream: true }) },
        { "x-host": "secret-host" },
      );
      const text = await answer.text();
      assert.equal(answer.status, 200, text);
      assert.match(text, /Well\./);
      assert.doesNotMatch(text, new RegExp(realKey));
      const [seen] = provider.seen;
      assert.equal(seen!.stream, stream);
      assert.ok(!JSON.stringify(seen).includes(token), "the gateway's own key stays here");
      assert.ok(!JSON.stringify(seen).includes("secret-host"));
      assert.deepEqual([spent.input, spent.output, spent.charges], [100, 20, 1]);
      assert.equal(spent.dollars, 300e-6);
      const [event] = events as ModelCallEvent[];
      assert.deepEqual(
        [event!.event, event!.by, event!.call, event!.text, event!.finish, event!.usage?.cachedInputTokens],
        ["model-call", "program", 1, "Well.", "tool-calls", 30],
      );
      assert.deepEqual(
        event!.toolCalls.map(({ name, input, malformed }) => [name, input, malformed]),
        [["shell", '{"command":"ls"}', false]],
      );
    });

test("a stream without requested usage is counted, and its client gets no event without a choice", async (t) => {
  const { ask, spent, provider } = await gatewayLab(t, [
    { text: "a", usage },
    { text: "b", usage },
  ]);
  const streamed = async (more: object) => {
    const text = await (await ask("openai/v1/chat/completions", { ...chat, stream: true, ...more })).text();
    return text
      .split("\n")
      .filter((line) => /^data: \{/.test(line))
      .map((line) => JSON.parse(line.slice(6)));
  };
  assert.ok((await streamed({})).every(({ choices }) => choices.length === 1));
  assert.ok(
    (await streamed({ stream_options: { include_usage: true } })).some(({ choices }) => choices.length === 0),
  );
  assert.deepEqual(
    provider.seen.map(({ body }) => body.stream_options),
    [{ include_usage: true }, { include_usage: true }],
  );
  assert.equal(spent.input, 200);
});

test("the model and the fingerprint that a provider names are recorded, and counted in the ledger", async (t) => {
  const meter = new AttemptMeter({ limits: { timeMs: 1e9 }, clock: testClock() });
  const named = (fingerprint: string) => ({
    text: "a",
    usage,
    answeredBy: "gpt-test-2024-08-06",
    fingerprint,
  });
  const { ask, events } = await gatewayLab(t, [named("fp_1"), named("fp_2"), named("fp_2")], { meter });
  for (const stream of [false, true, true])
    await (await ask("openai/v1/chat/completions", { ...chat, stream })).text();
  const recorded = (events as ModelCallEvent[]).map((one) => [one.answeredBy, one.fingerprint]);
  assert.deepEqual(
    recorded,
    ["fp_1", "fp_2", "fp_2"].map((one) => ["gpt-test-2024-08-06", one]),
  );
  assert.deepEqual(
    meter.spending().served?.map(({ model, fingerprint, calls }) => [model, fingerprint, calls]),
    [
      ["gpt-test", "fp_1", 1],
      ["gpt-test", "fp_2", 2],
    ],
  );
});

test("a call that its program gives up is still counted", async (t) => {
  const { port, spent, events } = await gatewayLab(t, [
    { text: "x".repeat(4000), usage, slow: { characters: 400, pauseMs: 5 } },
  ]);
  const request = httpRequest({
    port,
    method: "POST",
    path: "/anthropic/v1/messages",
    headers: { "x-api-key": token },
  });
  request.on("error", () => {});
  request.end(JSON.stringify({ ...claude, stream: true }));
  const [response] = await once(request, "response");
  await once(response, "data");
  request.destroy();
  while (events.length === 0) await sleep(5);
  assert.equal(events[0]!.event, "model-call");
  assert.deepEqual([spent.input, spent.output], [100, 20]);
});

test("a call over budget is refused in the provider's own form, and the supervisor is notified", async (t) => {
  const { ask, provider, over } = await gatewayLab(t, [{ text: "a", usage }], { tokens: 120 });
  assert.equal((await ask("anthropic/v1/messages", claude)).status, 200);
  const refused = await ask("anthropic/v1/messages", claude);
  assert.equal(refused.status, 402);
  assert.deepEqual(await refused.json(), {
    type: "error",
    error: {
      type: "billing_error",
      message: "mlrb gateway: the attempt's budget is used up: 120 of 120 tokens",
    },
  });
  const other = (await (await ask("openai/v1/chat/completions", chat)).json()) as { error: { type: string } };
  assert.equal(other.error.type, "insufficient_quota");
  assert.equal(provider.seen.length, 1);
  assert.deepEqual(
    over.map(({ limit }) => limit),
    ["tokens", "tokens"],
  );
});

const refusals: [title: string, path: string, body: unknown, status: number, says: RegExp][] = [
  [
    "another model",
    "openai/v1/chat/completions",
    { ...chat, model: "gpt-dear" },
    403,
    /gpt-dear.*not among those.*gpt-test/,
  ],
  ["another path", "openai/v1/files", {}, 404, /POST files is not let through/],
  ["a path that climbs", "openai/v1/../v1/chat/completions/%2e%2e/files", chat, 404, /not let through/],
  ["another provider", "mistral/v1/chat/completions", chat, 404, /there are \/openai, \/anthropic/],
  ["a body that is not JSON", "openai/v1/chat/completions", "{", 400, /not JSON/],
  ["a list", "openai/v1/chat/completions", [], 400, /not a JSON object/],
  [
    "a search of the provider's",
    "anthropic/v1/messages",
    { ...claude, tools: [{ type: "web_search_20250305", name: "web_search" }] },
    403,
    /would reach a network/,
  ],
  [
    "a remote tool",
    "openai/v1/responses",
    { model: "o-test", input: "x", tools: [{ type: "mcp", server_url: "http://x" }] },
    403,
    /would reach a network/,
  ],
  [
    "a tool within a tool",
    "openai/v1/responses",
    { model: "o-test", input: "x", tools: [{ type: "namespace", tools: [{ type: "web_search" }] }] },
    403,
    /web_search/,
  ],
  [
    "a picture by its address",
    "openai/v1/chat/completions",
    { ...chat, messages: user([{ type: "image_url", image_url: { url: "http://x/y" } }]) },
    403,
    /`image_url`/,
  ],
  [
    "a document by its address in a tool's result",
    "anthropic/v1/messages",
    {
      ...claude,
      messages: user([
        { type: "tool_result", content: [{ type: "document", source: { type: "url", url: "http://x" } }] },
      ]),
    },
    403,
    /by its address/,
  ],
  [
    "an answer that is fetched later",
    "openai/v1/responses",
    { model: "o-test", input: "x", background: true },
    403,
    /background/,
  ],
];

for (const [title, path, body, status, says] of refusals)
  test(`${title} is refused, and nothing reaches the provider`, async (t) => {
    const { ask, provider, spent, events, failures } = await gatewayLab(t, []);
    const answer = await ask(path, body);
    assert.equal(answer.status, status);
    assert.match(await answer.text(), says);
    assert.deepEqual([provider.seen.length, provider.turnedAway(), spent.charges], [0, 0, 0]);
    assert.deepEqual([events, failures], [[], []]);
  });

test("names and arguments of a program's own tools do not count as reaching a network", async (t) => {
  const { ask } = await gatewayLab(t, [{ text: "ok" }]);
  const input = { url: "http://x", source: { type: "url" }, image_url: "http://x" };
  const answer = await ask("anthropic/v1/messages", {
    ...claude,
    tools: [
      { name: "web_fetch", input_schema: { type: "object" } },
      { type: "bash_20250124", name: "bash" },
    ],
    messages: [
      ...user("hi"),
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "web_fetch", input }] },
      ...user([{ type: "tool_result", tool_use_id: "a", content: "no" }]),
    ],
  });
  assert.equal(answer.status, 200, await answer.text());
});

test("the version may be in a client's base URL or in its path", async (t) => {
  const { ask, provider } = await gatewayLab(t, [{ text: "ok" }, { text: "ok" }]);
  for (const path of ["anthropic/messages", "anthropic/v1/messages"])
    assert.equal((await ask(path, claude)).status, 200);
  assert.equal(provider.seen.length, 2);
});

test("an attempt that has a network may have its provider search", async (t) => {
  const { ask } = await gatewayLab(t, [{ text: "ok" }], { network: true });
  const tools = [{ type: "web_search_20250305", name: "web_search" }];
  assert.equal((await ask("anthropic/v1/messages", { ...claude, tools })).status, 200);
});

test("without the attempt's own key every request is refused, in any header", async (t) => {
  const { ask, provider } = await gatewayLab(t, []);
  for (const headers of [
    { authorization: "Bearer x" },
    { authorization: "", "x-api-key": realKey },
    { authorization: `Basic ${token}` },
  ])
    assert.equal((await ask("openai/v1/chat/completions", chat, headers)).status, 401);
  assert.equal(provider.seen.length, 0);
});

test("a provider's 429 is held back as long as it asks, and then asks for no more wait", async (t) => {
  const { ask, spent } = await gatewayLab(t, [{ status: 429, retryAfterMs: 1000 }]);
  const limited = await ask("anthropic/v1/messages", claude);
  assert.deepEqual([limited.status, limited.headers.get("retry-after")], [429, "0"]);
  assert.deepEqual(spent.waits, ["rate-limit began", "rate-limit ended"]);
});

test("a held 429 is passed on with its wait when the program sends another request", async (t) => {
  const { ask, spent, events } = await gatewayLab(t, [
    { status: 429, retryAfterMs: 30_000 },
    { text: "ok", usage },
  ]);
  const held = ask("anthropic/v1/messages", claude);
  await until("the wait", () => spent.waits.length > 0);
  assert.equal((await ask("anthropic/v1/messages", claude)).status, 200);
  const limited = await held;
  assert.equal(limited.status, 429);
  assert.equal(limited.headers.get("retry-after"), "30");
  assert.equal(((await limited.json()) as { error: { type: string } }).error.type, "rate_limit_error");
  assert.deepEqual(spent.waits, ["rate-limit began", "rate-limit ended"]);
  const [tried, called] = events as [ModelTryEvent, ModelCallEvent];
  assert.deepEqual([tried.cause, tried.whose, tried.call, called.call], ["rate-limit", "provider", 1, 2]);
});

test("a provider's words about the operator's key do not reach the program", async (t) => {
  const { ask, events } = await gatewayLab(t, [
    { status: 401, body: `{"error":"no such key: ${realKey.slice(0, 8)}…"}` },
  ]);
  const answer = await ask("openai/v1/chat/completions", chat);
  assert.equal(answer.status, 502);
  assert.doesNotMatch(await answer.text(), /loopback/);
  assert.deepEqual(
    [(events[0] as ModelTryEvent).cause, (events[0] as ModelTryEvent).whose],
    ["wrong-key", "operator"],
  );
});

test("a key in an answer is removed", async (t) => {
  const { ask } = await gatewayLab(t, [{ text: `it is ${realKey}` }, { text: `it is ${realKey}` }]);
  for (const stream of [false, true]) {
    const text = await (await ask("anthropic/v1/messages", { ...claude, stream })).text();
    assert.doesNotMatch(text, new RegExp(realKey));
  }
});

test("a broken answer is broken for the program too, and its counted usage is charged", async (t) => {
  const { ask, spent, events } = await gatewayLab(t, [{ text: "x".repeat(2000), usage, cut: 1200 }]);
  await assert.rejects(
    async () => await (await ask("anthropic/v1/messages", { ...claude, stream: true })).text(),
  );
  while (events.length === 0) await sleep(5);
  assert.equal((events[0] as ModelTryEvent).cause, "cut-stream");
  assert.equal(spent.input, 100);
});

test("no header, body, upgrade or tunnel blocks or passes the gateway", async (t) => {
  const { port, ask, provider, failures } = await gatewayLab(t, [{ text: "still here" }]);
  const raw = (text: string) =>
    new Promise<string>((resolve) => {
      let said = "";
      const socket = connect(port, "127.0.0.1");
      socket.on("data", (bytes) => {
        said += bytes;
      });
      socket.on("error", () => {});
      socket.on("close", () => resolve(said));
      socket.write(text);
    });
  const auth = `Authorization: Bearer ${token}\r\n`;
  assert.equal(await raw(`CONNECT api.openai.com:443 HTTP/1.1\r\nHost: x\r\n${auth}\r\n`), "");
  assert.equal(
    await raw(
      `GET /openai/v1/responses HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${auth}\r\n`,
    ),
    "",
  );
  assert.match(
    await raw(
      `POST http://evil.example/v1/chat/completions HTTP/1.1\r\nHost: evil.example\r\n${auth}Content-Length: 2\r\n\r\n{}`,
    ),
    /^HTTP\/1\.1 404/,
  );
  assert.match(await raw(`GET /${"x".repeat(20_000)} HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 4/);
  assert.match(await raw("\0\x01\x02 nonsense\r\n\r\n"), /^HTTP\/1\.1 400/);
  assert.match(
    await raw(
      `POST /openai/v1/chat/completions HTTP/1.1\r\nHost: x\r\n${auth}Content-Length: 99999999999\r\n\r\n`,
    ),
    /^HTTP\/1\.1 413/,
  );
  const endless = connect(port, "127.0.0.1");
  endless.on("error", () => {});
  endless.write(
    `POST /openai/v1/chat/completions HTTP/1.1\r\nHost: x\r\n${auth}Transfer-Encoding: chunked\r\n\r\n`,
  );
  const piece = `100000\r\n${"x".repeat(1 << 20)}\r\n`;
  const pour = () => {
    while (!endless.destroyed && endless.write(piece));
  };
  endless.on("drain", pour);
  pour();
  await closed(endless);
  const idle = Array.from({ length: 200 }, () => connect(port, "127.0.0.1").on("error", () => {}));
  await Promise.race(idle.slice(128).map(closed)); // there is no room for them
  for (const socket of idle) socket.destroy();
  await sleep(50);
  assert.equal((await ask("openai/v1/chat/completions", chat)).status, 200);
  assert.deepEqual([provider.seen.length, failures], [1, []]);
});

const litellm = (message: string) =>
  JSON.stringify({ error: { message, type: "None", param: "None", code: "400" } });
const complaints: [title: string, reply: Reply, cause: ModelCause, whose: FailureOwner][] = [
  ["a model that is retired", { status: 404, complaint: "retired-model" }, "unknown-model", "operator"],
  ["an address without a model", { status: 404, body: "404 page not found" }, "wrong-address", "operator"],
  ["408", { status: 408 }, "server-error", "provider"],
  ["409", { status: 409 }, "server-error", "provider"],
  ["a request that is too long", { status: 400, complaint: "too-long" }, "too-long", "agent-error"],
  ["a request that is malformed", { status: 400, complaint: "bad-request" }, "bad-request", "agent-error"],
  ["the provider's filter", { status: 400, complaint: "policy" }, "blocked-request", "agent-refusal"],
  ["an empty account", { status: 429, complaint: "no-money" }, "out-of-money", "operator"],
  [
    "LiteLLM's budget",
    { status: 400, body: litellm("Budget has been exceeded! Current cost: 2") },
    "out-of-money",
    "operator",
  ],
  [
    "LiteLLM's model",
    { status: 400, body: litellm("Invalid model name passed in model=x") },
    "unknown-model",
    "operator",
  ],
  [
    "vLLM as it is started by default",
    {
      status: 400,
      body: '{"message":"\\"auto\\" tool choice requires --enable-auto-tool-choice","code":400}',
    },
    "no-tool-calls",
    "operator",
  ],
  [
    "Ollama's model without tools",
    { status: 400, body: '{"error":"phi3 does not support tools"}' },
    "no-tool-calls",
    "operator",
  ],
  ["a page", { garbage: true }, "no-stream", "operator"],
  ["a body", { status: 200, body: '{"choices":[]}' }, "no-stream", "operator"],
  [
    "a complaint in place of a stream",
    { status: 200, body: '{"error":{"message":"m does not support tools"}}' },
    "no-tool-calls",
    "operator",
  ],
  [
    "a long complaint in place of a stream, in pieces",
    { status: 200, body: `{"error":{"trace":"${"x".repeat(60_000)}","message":"m does not support tools"}}` },
    "no-tool-calls",
    "operator",
  ],
  ["a stream that complains", { text: "x".repeat(500), complaint: "overloaded" }, "overloaded", "provider"],
  ["a reset", { reset: true }, "connection-lost", "provider"],
];

for (const [title, reply, cause, whose] of complaints)
  test(`a program that meets ${title} is judged by the table of causes: ${cause}, ${whose}`, async (t) => {
    const { ask, events, failures } = await gatewayLab(t, [reply]);
    const answer = await ask("openai/v1/chat/completions", { ...chat, stream: true });
    await answer.text().catch(() => {});
    while (events.length === 0) await sleep(5);
    const [tried] = events as ModelTryEvent[];
    assert.deepEqual([tried!.event, tried!.cause, tried!.whose], ["model-try", cause, whose], tried!.detail);
    if (cause === "no-stream") assert.match(tried!.detail, /"(<!doctype|\{\\"choices)/);
    assert.deepEqual(failures, []);
  });

test("Google's limit a minute is held for its retryDelay and passed on", async (t) => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "6.2s" }];
  const message = "You exceeded your current quota, please check your plan and billing details.";
  const body = JSON.stringify({ error: { code: 429, status: "RESOURCE_EXHAUSTED", message, details } });
  const { ask, events, ended } = await gatewayLab(t, [{ status: 429, body }]);
  assert.equal((await ask("openai/v1/chat/completions", chat)).status, 429);
  assert.deepEqual(
    [(events[0] as ModelTryEvent).cause, (events[0] as ModelTryEvent).whose],
    ["rate-limit", "provider"],
  );
  const [how] = ended;
  assert.ok(how !== undefined && how !== "answered");
  assert.equal(how.failure.retryAfterMs, 6200);
});

test("a stream under another content type is a stream", async (t) => {
  const stream = 'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  const { ask, events } = await gatewayLab(t, [{ status: 200, body: stream }]);
  assert.equal(await (await ask("openai/v1/chat/completions", { ...chat, stream: true })).text(), stream);
  assert.equal((events[0] as ModelCallEvent).text, "hi");
});

test("concurrent calls without usage pass a limit of dollars by one call, not by all of them", async (t) => {
  const limits = { timeMs: 1e9, dollars: 0.01 };
  const meter = new AttemptMeter({ limits, clock: testClock() });
  const { ask, provider, over } = await gatewayLab(t, () => ({ text: "ok", usage: null }), { meter });
  // 400 tokens of output at most, at 10 dollars a million: 0.004 dollars, and some for the input
  const asked = Array.from({ length: 8 }, () =>
    ask("openai/v1/chat/completions", { ...chat, max_tokens: 400 }),
  );
  const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, 200, 200, 402, 402, 402, 402, 402]);
  assert.deepEqual([provider.seen.length, over[0]?.limit], [3, "dollars"]);
  const { dollars, inputTokens, estimated } = meter.spending();
  assert.deepEqual([dollars, inputTokens, estimated.answers, estimated.outputTokens], [null, 0, 3, 1200]);
});

for (const [title, usage] of [
  ["a negative count", { prompt_tokens: -100, completion_tokens: -5 }],
  ["a count that is no number", { prompt_tokens: "many", completion_tokens: 5 }],
  ["half of the counts", { prompt_tokens: 100 }],
  ["an absurd count", { prompt_tokens: 1e15, completion_tokens: 5 }],
  ["none", undefined],
] as const)
  test(`${title} is an unknown usage, and is estimated`, async (t) => {
    const meter = new AttemptMeter({ limits: { timeMs: 1e9 }, clock: testClock() });
    const choices = [{ message: { content: "hi" }, finish_reason: "stop" }];
    const body = JSON.stringify({ choices, usage });
    const { ask, events } = await gatewayLab(t, [{ status: 200, body }], { meter });
    await (await ask("openai/v1/chat/completions", { ...chat, max_completion_tokens: 70 })).text();
    const call = events[0] as ModelCallEvent;
    assert.deepEqual([call.event, call.usage, call.dollars], ["model-call", null, null]);
    const { inputTokens, outputTokens, uncounted, estimated } = meter.spending();
    assert.deepEqual([inputTokens, outputTokens, uncounted, estimated.outputTokens], [0, 0, 1, 70]);
  });
