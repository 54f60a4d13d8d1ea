// The client against a double of the providers, in each protocol. Undocumented behaviour shows only against real
// ones.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import type { Json } from "@mlrb/kit/stage";
import { until } from "../../../../tests/support/processes.ts";
import {
  type LoopbackProvider,
  type Reply,
  startLoopbackProvider,
} from "../../../../tests/support/providers/loopback-provider.ts";
import { aiSdkClient, type ClientLimits } from "./ai-sdk-client.ts";
import type { Message, ModelResult, ToolSpec } from "./model-client.ts";

const shell: ToolSpec = {
  name: "shell",
  description: "Runs a command.",
  input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
};
const hello: Message[] = [
  { role: "system", text: "You are a researcher." },
  { role: "user", text: "Begin." },
];
const protocols = [
  { provider: "openai", id: "gpt-4o-2024-08-06" },
  { provider: "anthropic", id: "claude-3-5-sonnet-20241022" },
  { provider: "local", id: "qwen" },
];

const open: LoopbackProvider[] = [];
after(() => Promise.all(open.map((one) => one.close())));

type CallOptions = {
  messages?: Message[];
  limits?: ClientLimits;
  spec?: Partial<ModelSpec>;
  signal?: AbortSignal;
};

async function lab(
  { provider, id }: { provider: string; id: string },
  ...script: Reply[]
): Promise<{ server: LoopbackProvider; ask(asked?: CallOptions): Promise<ModelResult> }> {
  const server = await startLoopbackProvider({ script });
  open.push(server);
  return {
    server,
    ask({ messages = hello, limits, spec, signal = new AbortController().signal } = {}) {
      const whole = { provider, id, baseUrl: server.baseUrl, contextTokens: 100_000, ...spec };
      return aiSdkClient(whole, server.key, limits).call({ messages, tools: [shell], signal });
    },
  };
}

function response(result: ModelResult) {
  assert.equal(result.kind, "answered", JSON.stringify(result));
  return (result as Extract<ModelResult, { kind: "answered" }>).response;
}

function failure(result: ModelResult) {
  assert.equal(result.kind, "failed", JSON.stringify(result));
  return (result as Extract<ModelResult, { kind: "failed" }>).failure;
}

for (const protocol of protocols) {
  const named = (title: string) => `${protocol.provider}: ${title}`;

  test(named("a streamed answer gives text, calls, usage and the model's name"), async () => {
    const { server, ask } = await lab(protocol, {
      text: "I look around first, and then I decide.",
      toolCalls: [{ id: "c1", name: "shell", input: { command: "ls data" } }],
      usage: { input: 100, output: 20, cached: 40 },
      answeredBy: `${protocol.id}-as-of-today`,
      slow: { characters: 50, pauseMs: 1 },
    });
    const answer = response(await ask());
    assert.equal(answer.text, "I look around first, and then I decide.");
    assert.deepEqual(answer.toolCalls, [{ id: "c1", name: "shell", input: { command: "ls data" } }]);
    assert.equal(answer.finish, "tool-calls");
    const { inputTokens, outputTokens, cachedInputTokens } = answer.usage!;
    assert.deepEqual([inputTokens, outputTokens, cachedInputTokens], [100, 20, 40]);
    assert.equal(answer.answeredBy, `${protocol.id}-as-of-today`);
    assert.deepEqual(
      server.seen.map(({ model, stream, tools, messages }) => ({ model, stream, tools, messages })),
      [{ model: protocol.id, stream: true, tools: ["shell"], messages: hello.map((one) => ({ ...one })) }],
    );
  });

  if (protocol.provider === "local")
    test(named("the fingerprint of the provider's configuration is part of the answer"), async () => {
      const { ask } = await lab(protocol, { text: "a", fingerprint: "fp_44709d6fcb" }, { text: "b" });
      assert.equal(response(await ask()).fingerprint, "fp_44709d6fcb");
      assert.equal(response(await ask()).fingerprint, undefined);
    });

  test(named("a conversation with calls and results goes back as it was"), async () => {
    const { server, ask } = await lab(protocol, { text: "done" });
    await ask({
      messages: [
        ...hello,
        {
          role: "assistant",
          text: "Two things.",
          toolCalls: [
            { id: "a", name: "shell", input: { command: "ls" } },
            { id: "b", name: "shell", malformed: "{broken" },
          ],
        },
        { role: "tool", callId: "a", name: "shell", text: "train.txt", failed: false },
        { role: "tool", callId: "b", name: "shell", text: "not JSON", failed: true },
        { role: "user", text: "Ten minutes are left." },
      ],
    });
    const seen = server.seen[0]!.messages;
    const results = seen.filter((message) => message.role === "tool");
    assert.deepEqual(
      results.map(({ callId, text }) => [callId, text]),
      [
        ["a", "train.txt"],
        ["b", "not JSON"],
      ],
    );
    const calls = seen.flatMap((message) => message.toolCalls ?? []);
    assert.deepEqual(
      calls.map(({ id, input }) => [id, JSON.parse(input)]),
      [
        ["a", { command: "ls" }],
        ["b", { malformed: "{broken" }],
      ],
    );
    assert.equal(seen.at(-1)!.text, "Ten minutes are left.");
  });

  test(named("malformed arguments and unknown tools come back unchanged"), async () => {
    const { ask } = await lab(protocol, {
      toolCalls: [
        { id: "broken", name: "shell", rawInput: '{"command": "ls' },
        { id: "list", name: "shell", rawInput: "[1, 2]" },
        { id: "unknown", name: "fly", input: { to: "moon" } },
        { id: "deep", name: "shell", rawInput: `{"a":${"[".repeat(5000)}${"]".repeat(5000)}}` },
        { id: "nothing", name: "shell", rawInput: "" },
      ],
    });
    const { toolCalls } = response(await ask());
    assert.deepEqual(toolCalls[0], { id: "broken", name: "shell", malformed: '{"command": "ls' });
    assert.deepEqual(toolCalls[1], { id: "list", name: "shell", malformed: "[1, 2]" });
    assert.deepEqual(toolCalls[2], { id: "unknown", name: "fly", input: { to: "moon" } });
    assert.ok("malformed" in toolCalls[3]!);
    assert.deepEqual(toolCalls[4], { id: "nothing", name: "shell", input: {} });
  });

  test(named("a refusal is an answer with its text"), async () => {
    const { ask } = await lab(
      protocol,
      { refusal: "I will not do that." },
      { text: "so", finish: "refusal" },
    );
    const said = response(await ask());
    assert.deepEqual([said.finish, said.text], ["refusal", "I will not do that."]);
    assert.equal(response(await ask()).finish, "refusal");
  });

  test(named("an answer at its limit of tokens ends by its length"), async () => {
    const { server, ask } = await lab(protocol, { text: "half", finish: "length" });
    assert.equal(response(await ask({ spec: { maxOutputTokens: 7, temperature: 0.5 } })).finish, "length");
    const { max_tokens, max_output_tokens, temperature } = server.seen[0]!.body;
    assert.deepEqual([max_tokens ?? max_output_tokens, temperature], [7, 0.5]);
  });

  const complaints: [Reply, string][] = [
    [{ status: 429 }, "rate-limit"],
    [{ status: 529 }, "overloaded"],
    [{ status: 500 }, "server-error"],
    [{ status: 401 }, "wrong-key"],
    [{ status: 403 }, "forbidden"],
    [{ status: 404 }, "unknown-model"],
    [{ status: 404, complaint: "retired-model" }, "unknown-model"],
    [{ status: 400 }, "bad-request"],
    [{ status: 400, complaint: "too-long" }, "too-long"],
    [{ status: 400, complaint: "policy" }, "blocked-request"],
    [{ status: protocol.provider === "anthropic" ? 400 : 429, complaint: "no-money" }, "out-of-money"],
    [{ text: "so far so good, and then", complaint: "overloaded" }, "overloaded"],
    [{ text: "so far so good, and then", complaint: "rate-limit" }, "rate-limit"],
    [{ reset: true }, "connection-lost"],
    [{ garbage: true }, "no-stream"],
    [{ text: "a text that is never said to its end".repeat(9), cut: 1200 }, "cut-stream"],
    [{ text: "a text that is never said to its end".repeat(9), truncate: 1200 }, "cut-stream"],
    [{ status: 307, headers: { location: "http://127.0.0.1:9/" } }, "wrong-address"],
  ];
  for (const [reply, cause] of complaints)
    test(named(`${JSON.stringify(reply).slice(0, 60)} fails by ${cause}`), async () => {
      const { ask } = await lab(protocol, reply);
      const failed = failure(await ask());
      assert.equal(failed.cause, cause, failed.detail);
      assert.ok(failed.detail.length > 0 && failed.detail.length <= 500);
    });

  test(named("a silent connection is given up, before and within an answer"), async () => {
    const { server, ask } = await lab(protocol, { hang: true }, { text: "a beginning and then", stall: 300 });
    for (const _ of [1, 2]) assert.equal(failure(await ask({ limits: { idleMs: 150 } })).cause, "idle");
    await until("the server to see it", () => server.abandoned() === 2);
  });

  test(named("an abort ends the try at once, with its own reason"), async () => {
    const { server, ask } = await lab(protocol, { hang: true }, { text: "slow".repeat(100), stall: 900 });
    const over = new Error("the attempt is over");
    for (const _ of [1, 2]) {
      const control = new AbortController();
      const asked = ask({ signal: control.signal });
      while (server.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
      control.abort(over);
      await assert.rejects(asked, over);
    }
    await assert.rejects(ask({ signal: AbortSignal.abort(over) }), over);
  });

  test(named("an answer over the limit of characters ends by its length"), async () => {
    const { ask } = await lab(protocol, { text: "word ".repeat(100_000) });
    const answer = response(await ask({ limits: { answerCharactersMax: 10_000 } }));
    assert.equal(answer.finish, "length");
    assert.ok(answer.text.length > 0 && answer.text.length < 50_000, String(answer.text.length));
    assert.ok(answer.usage!.outputTokens > 0, "it is read to its end");
  });

  test(named("an answer of megabytes without content is given up"), async () => {
    const { ask } = await lab(protocol, { text: "x".repeat(3_000_000) });
    assert.equal(failure(await ask({ limits: { bodyBytesMax: 5000 } })).cause, "garbage");
  });

  test(named("half characters and null bytes neither leave nor arrive"), async () => {
    const { server, ask } = await lab(protocol, {
      text: "a\0b \ud800.",
      toolCalls: [{ name: "shell", rawInput: '{"command": "echo \\u0000 \\udc00"}' }],
    });
    const answer = response(await ask({ messages: [{ role: "user", text: "x\0y \ud83d" }] }));
    assert.equal(server.seen[0]!.messages[0]!.text, "x�y �");
    assert.deepEqual(answer.toolCalls[0], {
      ...answer.toolCalls[0],
      input: { command: "echo � �" },
    });
    assert.ok(answer.text.isWellFormed() && !answer.text.includes("\0"));
  });

  test(named("an answer without counted tokens has usage null, not zero"), async () => {
    const { ask } = await lab(protocol, { text: "hi", usage: null });
    assert.equal(response(await ask()).usage, null);
  });
}

for (const { provider, id, sealed } of [
  { provider: "openai", id: "o3", sealed: "sealed:reply_0" },
  { provider: "anthropic", id: "claude-opus-4-1", sealed: "signed:reply_0" },
])
  test(`${provider}: reasoning goes back unchanged, unless the calls have changed`, async () => {
    const { server, ask } = await lab(
      { provider, id },
      { reasoning: "First the data.", text: "Ok.", toolCalls: [{ id: "c", name: "shell", input: {} }] },
      { text: "done" },
      { text: "done" },
    );
    const answer = response(await ask());
    assert.equal(answer.reasoning, "First the data.");
    const result: Message = { role: "tool", callId: "c", name: "shell", text: "ok", failed: false };
    const said: Message = {
      role: "assistant",
      ...answer,
      raw: JSON.parse(JSON.stringify(answer.raw)) as Json,
    };
    await ask({ messages: [...hello, said, result] });
    assert.ok(JSON.stringify(server.seen[1]!.body).includes(sealed));
    assert.deepEqual(
      server.seen[1]!.messages.flatMap((message) => message.toolCalls ?? []).map((call) => call.id),
      ["c"],
    );
    await ask({ messages: [...hello, { ...said, toolCalls: [] }] });
    assert.ok(!JSON.stringify(server.seen[2]!.body).includes(sealed));
  });

test("anthropic: the cache is marked at the system message and at the last one", async () => {
  const { server, ask } = await lab(protocols[1]!, {
    text: "hi",
    usage: { input: 1000, output: 5, cached: 600, cacheWritten: 300 },
  });
  const answer = response(await ask());
  const { system, messages } = server.seen[0]!.body as { system: Json; messages: Json };
  assert.match(JSON.stringify(system), /"cache_control":\{"type":"ephemeral"\}/u);
  assert.match(JSON.stringify(messages), /"cache_control":\{"type":"ephemeral"\}/u);
  assert.deepEqual(answer.usage, {
    inputTokens: 1000,
    outputTokens: 5,
    cachedInputTokens: 600,
    cacheWrittenTokens: 300,
    reasoningTokens: null,
  });
});

test("anthropic: of an answer that breaks off, the prompt was counted", async () => {
  const { ask } = await lab(protocols[1]!, {
    text: "a text that is never said to its end".repeat(9),
    usage: { input: 1000, output: 90, cached: 600, cacheWritten: 300 },
    cut: 1200,
  });
  assert.deepEqual(failure(await ask()).usage, {
    inputTokens: 1000,
    outputTokens: 1,
    cachedInputTokens: 600,
    cacheWrittenTokens: 300,
    reasoningTokens: null,
  });
});

test("openai: the provider stores nothing of an attempt", async () => {
  const { server, ask } = await lab(protocols[0]!, { text: "hi" });
  await ask();
  assert.equal(server.seen[0]!.body.store, false);
});

test("options of a preset reach the provider", async () => {
  const { server, ask } = await lab({ provider: "openai", id: "o3" }, { text: "hi" });
  await ask({ spec: { options: { reasoningEffort: "high" } } });
  assert.deepEqual((server.seen[0]!.body.reasoning as { effort: string }).effort, "high");
});

test("a wrong key is wrong-key, and a name without an address is refused before a request", async () => {
  const server = await startLoopbackProvider({ script: [] });
  open.push(server);
  const spec = { provider: "vllm", id: "qwen", contextTokens: 1000 };
  const client = aiSdkClient({ ...spec, baseUrl: server.baseUrl }, "not the key");
  const result = await client.call({ messages: hello, tools: [], signal: new AbortController().signal });
  assert.equal(failure(result).cause, "wrong-key");
  assert.throws(() => aiSdkClient(spec, undefined), /provider "vllm" needs `baseUrl`/u);
});

test("a missing endpoint is unreachable", async () => {
  const server = await startLoopbackProvider({ script: [] });
  await server.close();
  for (const { provider, id } of protocols) {
    const client = aiSdkClient({ provider, id, baseUrl: server.baseUrl, contextTokens: 1000 }, "key");
    const result = await client.call({ messages: hello, tools: [], signal: new AbortController().signal });
    assert.equal(failure(result).cause, "unreachable");
  }
});
