import assert from "node:assert/strict";
import { test } from "node:test";
import { parsedJson } from "../../model/json-text.ts";
import { inspectExtract } from "./inspect-extract.ts";

const limits = { characters: 100_000, eventCharacters: 5_000 };
const read = (value: object) => inspectExtract(parsedJson(JSON.stringify(value))!, limits);
const extractOf = (value: object) => {
  const found = read(value);
  assert.ok(typeof found !== "string", String(found));
  return found;
};
const shown = (value: object) => extractOf(value).events.map(({ kind, text }) => `${kind}|${text}`);
const problem = (value: object) => String(read(value));

const [system, user] = [
  { id: "s", role: "system", content: "Be brief." },
  { id: "u", role: "user", content: "Train." },
];
const answer = {
  ...{ id: "a", role: "assistant", model: "claude-sonnet-4-5-20250929" },
  content: [
    { type: "reasoning", reasoning: "Hm." },
    { type: "text", text: "I am Claude Sonnet 4.5 in lab/agent9." },
  ],
  tool_calls: [
    { id: "1", function: "bash", arguments: { cmd: "ls" }, type: "function" },
    { id: "2", function: "bash", arguments: {}, parse_error: "{cmd: broken", type: "function" },
  ],
};
const result = { id: "t", role: "tool", function: "bash", tool_call_id: "1", content: "a.py" };
const failed = { id: "f", role: "tool", content: "", error: { type: "timeout", message: "too slow" } };
const base = {
  version: 2,
  eval: { model: "anthropic/claude-sonnet-4-5", solver: "lab/agent9" },
  results: { scores: [{ name: "loss", metrics: { loss: { value: 0.8731 } } }] },
};
const sample = {
  ...{ id: 1, epoch: 1, scores: { loss: { value: 0.8731 } }, attachments: {} },
  messages: [system, user, answer, result, failed],
};
const log = (some: object = {}) => ({ ...base, samples: [{ ...sample, ...some }] });

test("the messages of a log are events, without names, ids, scores and costs", () => {
  assert.deepEqual(shown(log()), [
    "message|system:\nBe brief.",
    "prompt|user:\nTrain.",
    "reasoning|assistant:\nHm.",
    "message|assistant:\nI am [the agent's model] in [the agent].",
    "call|assistant:\nbash\ncmd: ls",
    "call|assistant:\nbash",
    "call|assistant:\nparse_error: {cmd: broken",
    "result|tool:\na.py",
    'result|tool:\n{"type":"timeout","message":"too slow"}',
  ]);
});

test("events tell what the last conversation no longer holds, each message once, in pools or not", () => {
  const worker = { id: "w", role: "assistant", content: "I am the worker." };
  const events = [
    { event: "model", input: [], input_refs: [[0, 2]], output: { choices: [{ message: answer }] } },
    { event: "tool", message_id: "t", result: "a.py", error: null },
    { event: "model", input: [user], output: { choices: [{ message: worker }] } },
    { event: "score", score: { value: 0.8731 } },
  ];
  const pooled = { messages: [], events, events_data: { messages: [system, user], calls: [] } };
  const texts = [...shown(log()).slice(0, 8), "message|assistant:\nI am the worker."];
  assert.deepEqual(shown(log(pooled)), texts);
  assert.deepEqual(shown(log({ ...pooled, messages: [user, answer, result, worker] })), texts);
  const cleared = { ...result, content: "(cleared)" };
  assert.deepEqual(shown(log({ ...pooled, messages: [user, answer, cleared, worker] })), texts);
});

test("what a provider's own tool found is a result of the answer that holds its call", () => {
  const content = [
    { type: "tool_use", id: "1", name: "web_search", arguments: '{"q":"blimp"}', result: "Found." },
  ];
  assert.deepEqual(shown(log({ messages: [user, { role: "assistant", content }] })).slice(1), [
    "call|assistant:\nweb_search\nq: blimp",
    "result|assistant:\nFound.",
  ]);
});

test("fields of no known name are shown, of a message and of a call", () => {
  const metadata = { aside: "Rows were copied." };
  const [, plain] = answer.tool_calls;
  const calls = [{ ...plain, view: { content: "a plan" } }];
  const messages = [user, { ...answer, tool_calls: calls, metadata }, { ...result, metadata }];
  const found = shown(log({ messages }));
  assert.ok(found.includes('message|assistant:\nmetadata: {"aside":"Rows were copied."}'), String(found));
  assert.ok(found.includes('message|tool:\nmetadata: {"aside":"Rows were copied."}'));
  assert.ok(found.some((one) => one.includes('view: {"content":"a plan"}')));
});

test("attachments are read in place of their references; one that is missing counts as left out", () => {
  const messages = [
    { role: "user", content: "attachment://aa" },
    { role: "tool", content: [{ type: "text", text: "tc://bb" }] },
    { role: "tool", content: "see attachment://aa" },
  ];
  const attachments = { aa: "A long task.", bb: "A long result." };
  const whole = extractOf(log({ messages, attachments }));
  assert.deepEqual(
    whole.events.map(({ text }) => text),
    ["user:\nA long task.", "tool:\nA long result.", "tool:\nsee attachment://aa"],
  );
  assert.equal(whole.leftOut.events, 0);
  const partly = extractOf(log({ messages, attachments: { aa: "A long task." } }));
  assert.equal(partly.leftOut.events, 1);
  assert.equal(partly.events[1]!.text, "tool:\ntc://bb");
});

test("events within a call of a tool, as older versions wrote them, count as left out", () => {
  const events = [{ event: "tool", events: [{ event: "model" }] }];
  assert.equal(extractOf(log({ events })).leftOut.events, 1);
});

test("unknown versions, several samples and damaged ones are told", () => {
  for (const version of [1, 3, "2", undefined]) assert.match(problem({ ...log(), version }), /version 2/);
  assert.match(problem({ ...base, samples: [sample, sample] }), /several samples; jq/);
  for (const samples of [undefined, [], [null], [3], ["x"], [{ messages: "y", events: {} }]])
    assert.match(problem({ ...base, samples }), /no steps/);
  const odd = [null, 3, "x", { role: 4, content: 5, tool_calls: "z" }];
  const events = [
    null,
    { event: "model", input_refs: [[-9, 1e12], "x", null], output: { choices: [null, {}] } },
  ];
  assert.ok(typeof read(log({ messages: odd, events })) === "object");
});

test("a log that nests deep is shown as far as it goes or is a problem, and never throws", () => {
  const deep = parsedJson(`${"[".repeat(100_000)}"x"${"]".repeat(100_000)}`)!;
  const content = (one: object) =>
    inspectExtract({ ...base, samples: [{ messages: [one] }] } as never, limits);
  assert.match(String(content({ role: "tool", content: deep })), /nests too deep/);
});
