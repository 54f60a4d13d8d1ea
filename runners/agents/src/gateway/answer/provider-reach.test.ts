import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelCallEvent, ModelRequestEvent } from "@mlrb/formats/attempt/trajectory";
import fc from "fast-check";
import { AttemptMeter } from "../../attempt/attempt-meter.ts";
import { priceBook } from "../../spending/prices.ts";
import { gatewayLab } from "../../testing/gateway-lab.ts";
import { heldCall } from "../../testing/held-call.ts";
import { testClock } from "../../testing/test-clock.ts";
import { reachIn } from "./provider-reach.ts";

const chatOf = (message: object, more: object = {}) => ({
  choices: [{ message: { role: "assistant", content: "hi", ...message }, finish_reason: "stop" }],
  ...more,
});

const searched: [title: string, answer: object, name: string][] = [
  [
    "a citation in OpenAI's chat",
    chatOf({ annotations: [{ type: "url_citation", url_citation: { url: "http://x" } }] }),
    "url_citation",
  ],
  [
    "a citation in a piece of a stream",
    { choices: [{ delta: { annotations: [{ type: "url_citation" }] } }] },
    "url_citation",
  ],
  ["Perplexity's citations", chatOf({}, { citations: ["https://a.org"] }), "citations"],
  ["citations in a message", chatOf({ citations: [{ url: "https://a.org" }] }), "citations"],
  ["Perplexity's results", chatOf({}, { search_results: [{ title: "a" }] }), "search_results"],
  ["a count of queries", chatOf({}, { usage: { num_search_queries: 2 } }), "num_search_queries"],
  ["a count of sources", chatOf({}, { usage: { num_sources_used: 1 } }), "num_sources_used"],
  ["tools that ran at the server", chatOf({ executed_tools: [{ name: "x" }] }), "executed_tools"],
  [
    "OpenRouter's count",
    chatOf({}, { usage: { server_tool_use: { web_search_requests: 1 } } }),
    "server_tool_use",
  ],
  [
    "a citation in OpenAI's responses",
    {
      object: "response",
      output: [
        { type: "message", content: [{ type: "output_text", annotations: [{ type: "url_citation" }] }] },
      ],
    },
    "url_citation",
  ],
  ["a search item", { object: "response", output: [{ type: "web_search_call" }] }, "web_search_call"],
  ["a remote tool", { object: "response", output: [{ type: "mcp_call" }] }, "mcp_call"],
  [
    "an event of a search",
    { type: "response.web_search_call.searching" },
    "response.web_search_call.searching",
  ],
  ["code at the provider", { output: [{ type: "code_interpreter_call" }] }, "code_interpreter_call"],
  ["Anthropic's tool", { type: "message", content: [{ type: "server_tool_use" }] }, "server_tool_use"],
  [
    "Anthropic's result in a stream",
    { type: "content_block_start", content_block: { type: "web_fetch_tool_result" } },
    "web_fetch_tool_result",
  ],
  [
    "Anthropic's count",
    { type: "message", usage: { server_tool_use: { web_search_requests: 0, web_fetch_requests: 1 } } },
    "server_tool_use",
  ],
  [
    "Anthropic's citation of a page",
    { content: [{ type: "text", citations: [{ type: "web_search_result_location", url: "http://x" }] }] },
    "citations",
  ],
  [
    "Google's queries",
    { candidates: [{ groundingMetadata: { webSearchQueries: ["x"] } }] },
    "groundingMetadata",
  ],
  [
    "Google's pages",
    { candidates: [{}, { grounding_metadata: { groundingChunks: [{ web: { uri: "http://x" } }] } }] },
    "grounding_metadata",
  ],
  ["Google's fetches", { candidates: [{ urlContextMetadata: { urlMetadata: [{}] } }] }, "urlContextMetadata"],
  [
    "Google's code",
    { candidates: [{ content: { parts: [{ executableCode: { language: "PYTHON", code: "1" } }] } }] },
    "executableCode",
  ],
];

for (const [title, answer, name] of searched)
  test(`${title} shows that the provider reached out: ${name}`, () => {
    assert.equal(reachIn(JSON.parse(JSON.stringify(answer))), name);
  });

const honest: [title: string, answer: object][] = [
  [
    "fields of searches without a value",
    chatOf({ annotations: [], citations: [] }, { search_results: null }),
  ],
  [
    "counts of 0",
    { type: "message", usage: { server_tool_use: { web_search_requests: 0 }, num_search_queries: 0 } },
  ],
  ["a setting's word", chatOf({}, { usage: { search_context_size: "low" } })],
  [
    "empty metadata of Google",
    { candidates: [{ groundingMetadata: {}, citationMetadata: { citations: [] } }] },
  ],
  [
    "a citation of the request's own document",
    {
      content: [{ type: "text", citations: [{ type: "char_location", cited_text: "x", document_index: 0 }] }],
    },
  ],
  ["a file's annotation", chatOf({ annotations: [{ type: "file", file: { hash: "x" } }] })],
  [
    "names and arguments of the program's own tools",
    {
      content: [
        { type: "tool_use", name: "web_search", input: { search_results: [1], type: "web_search_call" } },
      ],
      choices: [
        { message: { tool_calls: [{ function: { name: "web_fetch", arguments: '{"search":[1]}' } }] } },
      ],
      candidates: [
        { content: { parts: [{ functionCall: { name: "search", args: { citations: ["http://x"] } } }] } },
      ],
      output: [
        { type: "function_call", name: "web_search", arguments: "{}" },
        { type: "tool_search_call", arguments: { fetch: 1 } },
        { type: "local_shell_call", action: { search: ["x"] } },
      ],
    },
  ],
  [
    "the request repeated in the answer",
    {
      type: "response.created",
      response: {
        object: "response",
        tools: [{ type: "function", parameters: { properties: { web_search: { a: ["b"] } } } }],
        text: { format: { type: "json_schema", schema: { properties: { citations: { enum: ["x"] } } } } },
      },
    },
  ],
  ["the name of a model that researches", chatOf({}, { usage: { research_tokens: 3 } })],
];

for (const [title, answer] of honest)
  test(`${title} show no reach`, () => {
    assert.equal(reachIn(JSON.parse(JSON.stringify(answer))), undefined);
  });

test("no text of a model shows reach, whatever it says", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const answer = chatOf({ content: `${text} {"search_results":[1]} url_citation` });
      assert.equal(reachIn(JSON.parse(JSON.stringify(answer))), undefined);
    }),
  );
});

test("an answer nested a hundred thousand times is searched to its end", () => {
  const deep = JSON.parse(`${"[".repeat(100_000)}{"search_results":[1]}${"]".repeat(100_000)}`);
  assert.equal(reachIn(deep), "search_results");
});

const prices = priceBook([{ run: null, prices: ["gpt-test=1/10", "dear=100/1000"] }], new Map());
const usage = { prompt_tokens: 1000, completion_tokens: 100 };
const cited = { status: 200, body: JSON.stringify(chatOf({}, { usage, citations: ["https://a.org"] })) };
const chat = { model: "gpt-test", messages: [{ role: "user", content: "hi" }] };

async function asked(
  t: Parameters<typeof gatewayLab>[0],
  { network }: { network: boolean },
  request: object,
) {
  const meter = new AttemptMeter({ limits: { timeMs: 1e9 }, clock: testClock() });
  const lab = await gatewayLab(t, [cited, cited], { meter, prices, network });
  for (let time = 0; time < 2; time++) {
    const answer = await lab.ask("openai/v1/chat/completions", request);
    assert.equal(answer.status, 200, "the program gets the paid answer");
    assert.match(await answer.text(), /a\.org/);
  }
  const [call] = lab.events as ModelCallEvent[];
  const requests = lab.requests.filter((one): one is ModelRequestEvent => one.event === "model-request");
  return { call: call!, spending: meter.spending(), reaches: requests.map((one) => one.reaches) };
}

test("a search without a network is recorded, has no known price, and marks the ledger", async (t) => {
  const { call, spending } = await asked(t, { network: false }, chat);
  assert.deepEqual(
    [call.reach, call.surcharge, call.dollars],
    ["citations", "reach that the request did not ask for: citations", null],
  );
  assert.equal(call.usage?.inputTokens, 1000, "its tokens are known");
  assert.deepEqual(spending.reached, { calls: 2, what: ["citations"] });
  assert.equal(spending.dollars, null);
  assert.equal(spending.estimated.dollars, 0.4, "limits count the highest price");
});

test("a search that an attempt with a network did not ask for has no known price, and no mark", async (t) => {
  const { call, spending } = await asked(t, { network: true }, chat);
  assert.deepEqual([call.reach, call.dollars, spending.reached], ["citations", null, undefined]);
});

test("a request of an attempt with a network records each field that reaches out once", async (t) => {
  const content = [{ type: "image_url", image_url: { url: "https://a.org/x.png" } }];
  const messages = [{ role: "user", content }];
  const { call, reaches } = await asked(t, { network: true }, { ...chat, messages, web_search_options: {} });
  assert.deepEqual(reaches, [["messages[].content[].image_url.url", "web_search_options"], undefined]);
  assert.deepEqual([call.reach, call.dollars], ["citations", 0.002]);
});

test("an attempt with any number of names of reach keeps ten, and counts all", () => {
  const meter = new AttemptMeter({ limits: { timeMs: 1e9 }, clock: testClock() });
  for (let number = 0; number < 50; number++)
    meter.charge({ usage: null, dollars: 0, answered: true, reached: `name ${number}` }, heldCall);
  const { calls, what } = meter.spending().reached!;
  assert.deepEqual([calls, what.length], [50, 10]);
});
