// Google, Azure and Bedrock against doubles that speak their protocols. Only real ones can show that the documents
// are right.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { bedrock } from "../../../../tests/support/providers/loopback-bedrock.ts";
import {
  type LoopbackProvider,
  type Reply,
  startLoopbackProvider,
} from "../../../../tests/support/providers/loopback-provider.ts";
import { complete } from "../../../../tests/support/providers/loopback-reply.ts";
import { aiSdkClient } from "./ai-sdk-client.ts";
import type { Message, ModelFailure, ModelResponse, ModelResult, ToolSpec } from "./model-client.ts";
import { probeModel } from "./probe-model.ts";

const shell: ToolSpec = {
  name: "shell",
  description: "Runs a command.",
  input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
};
const hello: Message[] = [
  { role: "system", text: "You are a researcher." },
  { role: "user", text: "Begin." },
];
const providers = [
  { provider: "google", id: "gemini-2.5-pro", base: "/v1beta", protocol: "google" },
  { provider: "azure", id: "my-deployment", base: "/openai/v1", protocol: "openai-responses" },
  { provider: "bedrock", id: "anthropic.claude-3-5-sonnet-20241022-v2:0", base: "", protocol: "bedrock" },
] as const;

const open: LoopbackProvider[] = [];
after(() => Promise.all(open.map((one) => one.close())));

type Provider = (typeof providers)[number];

async function lab({ provider, id, base }: Provider, ...script: Reply[]) {
  const server = await startLoopbackProvider({ script });
  open.push(server);
  const spec = {
    provider,
    id,
    baseUrl: `${server.url}${base}`,
    contextTokens: 100_000,
    maxOutputTokens: 500,
  };
  return {
    server,
    spec,
    ask: (messages = hello, key = server.key) =>
      aiSdkClient(spec, key).call({ messages, tools: [shell], signal: new AbortController().signal }),
  };
}

function response(result: ModelResult): ModelResponse {
  assert.equal(result.kind, "answered", JSON.stringify(result));
  return (result as Extract<ModelResult, { kind: "answered" }>).response;
}

function failure(result: ModelResult): ModelFailure {
  assert.equal(result.kind, "failed", JSON.stringify(result));
  return (result as Extract<ModelResult, { kind: "failed" }>).failure;
}

for (const one of providers) {
  const named = (title: string) => `${one.provider}: ${title}`;
  const call = { id: "c1", name: "shell", input: { command: "ls data" } };

  test(
    named("a streamed answer gives text, calls and usage, and the name that the provider reports"),
    async () => {
      const { server, ask } = await lab(one, {
        text: "I look around first, and then I decide what to do next.",
        toolCalls: [call],
        usage: { input: 100, output: 20, cached: 40 },
        answeredBy: `${one.id}-as-of-today`,
        slow: { characters: 50, pauseMs: 1 },
      });
      const answer = response(await ask());
      assert.equal(answer.text, "I look around first, and then I decide what to do next.");
      assert.deepEqual(
        answer.toolCalls.map((made) => [made.name, "input" in made && made.input]),
        [["shell", { command: "ls data" }]],
      );
      assert.equal(answer.finish, "tool-calls");
      const { inputTokens, outputTokens, cachedInputTokens } = answer.usage!;
      assert.deepEqual([inputTokens, outputTokens, cachedInputTokens], [100, 20, 40]);
      // Bedrock's answers name no model
      assert.equal(answer.answeredBy, one.provider === "bedrock" ? null : `${one.id}-as-of-today`);
      assert.deepEqual(
        server.seen.map(({ protocol, model, stream, tools, messages }) => ({
          protocol,
          model,
          stream,
          tools,
          messages,
        })),
        [
          {
            protocol: one.protocol,
            model: one.id,
            stream: true,
            tools: ["shell"],
            messages: hello.map((said) => ({ ...said })),
          },
        ],
      );
    },
  );

  test(named("a conversation with calls and results goes back as it was"), async () => {
    const { server, ask } = await lab(one, { text: "done" });
    await ask([
      ...hello,
      {
        role: "assistant",
        text: "Two things.",
        toolCalls: [{ id: "a", name: "shell", input: { command: "ls" } }],
      },
      { role: "tool", callId: "a", name: "shell", text: "train.txt", failed: false },
    ]);
    const seen = server.seen[0]!.messages;
    const calls = seen.flatMap((message) => message.toolCalls ?? []);
    assert.deepEqual(
      calls.map(({ name, input }) => [name, JSON.parse(input)]),
      [["shell", { command: "ls" }]],
    );
    const result = seen.find(({ role }) => role === "tool");
    assert.match(result!.text, /train\.txt/);
  });

  for (const [finish, expected] of [
    ["length", "length"],
    ["refusal", "refusal"],
  ] as const)
    test(named(`an answer that ends by ${finish} says so`), async () => {
      if (one.provider === "azure" && finish === "refusal") return; // OpenAI's refusals are parts of an answer
      const { ask } = await lab(one, { text: "So", finish });
      assert.equal(response(await ask()).finish, expected);
    });

  test(named("a rate limit is waited out as the provider asks"), async () => {
    const { ask } = await lab(one, { status: 429, complaint: "rate-limit", retryAfterMs: 7000 });
    const { cause, whose, retry, retryAfterMs } = failure(await ask());
    assert.deepEqual([cause, whose, retry], ["rate-limit", "provider", true]);
    assert.ok(retryAfterMs !== null && retryAfterMs >= 6200 && retryAfterMs <= 7000, String(retryAfterMs));
  });

  const refusals = [
    ["overloaded", 503, "overloaded"],
    ["server-error", 500, "server-error"],
    ["unknown-model", one.provider === "bedrock" ? 400 : 404, "unknown-model"],
    ["too-long", 400, "too-long"],
    ["bad-request", 400, "bad-request"],
    ["forbidden", 403, "forbidden"],
  ] as const;
  for (const [complaint, status, cause] of refusals)
    test(named(`the error ${complaint} has the cause ${cause}`), async () => {
      const { ask } = await lab(one, { status, complaint });
      assert.equal(failure(await ask()).cause, cause);
    });

  test(named("an answer that breaks off is no answer, wherever it breaks"), async () => {
    const text = "a sentence of some length, ".repeat(40);
    const places = Array.from({ length: 30 }, (_, index) => 1200 + 17 * index);
    const { ask } = await lab(one, { text, cut: 1500 }, ...places.map((truncate) => ({ text, truncate })));
    for (const place of ["cut", ...places])
      assert.equal(failure(await ask()).cause, "cut-stream", String(place));
  });

  test(named("an error in the middle of an answer is the provider's failure"), async () => {
    const { ask } = await lab(one, {
      text: "a sentence of some length, ".repeat(40),
      complaint: "rate-limit",
    });
    const { cause, whose } = failure(await ask());
    assert.deepEqual([cause, whose], ["rate-limit", "provider"]);
  });

  test(named("a page of HTML is no stream"), async () => {
    const { ask } = await lab(one, { garbage: true });
    assert.equal(failure(await ask()).cause, "no-stream");
  });

  test(
    named("the key goes where the provider expects it, and a wrong one is the operator's failure"),
    async () => {
      const { server, ask } = await lab(one, { text: "yes" });
      assert.equal(failure(await ask(hello, "wrong")).whose, "operator");
      assert.equal(server.turnedAway(), 1);
      response(await ask());
    },
  );

  test(named("doctor's probe reports a model that answers, a retired one and a missing key"), async () => {
    const status = one.provider === "bedrock" ? 400 : 404;
    const { spec, server } = await lab(one, { text: "yes" }, { status, complaint: "unknown-model" });
    const keyed = { ...spec, key: "SOME_KEY" };
    assert.equal((await probeModel(keyed, server.key)).answer, "works");
    assert.equal((await probeModel(keyed, server.key)).answer, "retired");
    assert.equal((await probeModel(keyed, undefined)).answer, "no-key");
  });
}

test("bedrock: an answer without its last frames is no answer, though every frame that came is whole", async () => {
  const text = "a sentence of some length, ".repeat(3);
  const about = { index: 0, model: "m", request: "" };
  const frames = bedrock.events(complete({ text, usage: null }, about));
  const end = frames.findIndex(({ event }) => event === "messageStop");
  const sizes = frames.slice(0, end).map((frame) => bedrock.frame!.encode(frame).length);
  const places = sizes.map((_, index) => sizes.slice(0, index + 1).reduce((sum, size) => sum + size));
  const { ask } = await lab(providers[2], ...places.map((truncate) => ({ text, truncate })));
  for (const place of places)
    assert.match(failure(await ask()).cause, /^(cut-stream|garbage)$/, String(place));
});

test("azure and bedrock need the address of a resource or a region, and the error shows its form", () => {
  for (const [provider, form] of [
    ["azure", /https:\/\/RESOURCE\.openai\.azure\.com\/openai\/v1/],
    ["bedrock", /https:\/\/bedrock-runtime\.REGION\.amazonaws\.com/],
  ] as const)
    assert.throws(() => aiSdkClient({ provider, id: "m", contextTokens: 1000 }, "key"), form);
});

test("neither the environment's keys nor its addresses reach a request", async (t) => {
  const names = [
    "AWS_ENDPOINT_URL",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
  ];
  for (const name of names) process.env[name] = "http://127.0.0.1:9";
  t.after(() => {
    for (const name of names) delete process.env[name];
  });
  for (const one of providers) {
    const { server, ask } = await lab(one, { text: "yes" });
    response(await ask());
    assert.doesNotMatch(JSON.stringify(server.seen[0]!.headers), /127\.0\.0\.1:9"|AWS4-HMAC/);
  }
});
