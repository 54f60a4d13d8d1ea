import assert from "node:assert/strict";
import { test } from "node:test";
import { saidParts } from "./said-parts.ts";

const call = ["call", 'shell\ncommand: ls\nsay "hi"'];
const input = { command: 'ls\nsay "hi"' };
const args = JSON.stringify(input);

test("messages to every provider become texts, calls, results and reasoning", () => {
  const cases: [name: string, message: Parameters<typeof saidParts>[0], parts: string[][]][] = [
    ["a plain text", { role: "user", content: "Go." }, [["message", "Go."]]],
    [
      "chat, calls",
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", type: "function", function: { name: "shell", arguments: args } }],
      },
      [call],
    ],
    ["chat, result", { role: "tool", tool_call_id: "1", content: "a.py" }, [["result", "a.py"]]],
    [
      "responses, text",
      { type: "message", role: "user", content: [{ type: "input_text", text: "Go." }] },
      [["message", "Go."]],
    ],
    ["responses, call", { type: "function_call", call_id: "1", name: "shell", arguments: args }, [call]],
    [
      "responses, result",
      { type: "function_call_output", call_id: "1", output: "a.py" },
      [["result", "a.py"]],
    ],
    [
      "responses, reasoning",
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }], encrypted_content: "x" },
      [["reasoning", "Hm."]],
    ],
    ["responses, sealed reasoning", { type: "reasoning", summary: [], encrypted_content: "x" }, []],
    [
      "anthropic",
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "x" },
          { type: "text", text: "I look." },
          { type: "tool_use", id: "1", name: "shell", input },
        ],
      },
      [["reasoning", "Hm."], ["message", "I look."], call],
    ],
    [
      "anthropic, result",
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: "a.py" }] }],
      },
      [["result", "a.py"]],
    ],
    ["google, call", { role: "model", parts: [{ functionCall: { name: "shell", args: input } }] }, [call]],
    [
      "google, result",
      { role: "user", parts: [{ functionResponse: { name: "shell", response: { output: "a.py" } } }] },
      [["result", "a.py"]],
    ],
    ["an unknown form", { role: "user", secret: "text" }, [["message", '{"role":"user","secret":"text"}']]],
  ];
  for (const [name, message, parts] of cases) assert.deepEqual(saidParts(message), parts, name);
});

test("a field of an unknown name is shown after the known ones, wherever it is", () => {
  const cases: [name: string, message: Parameters<typeof saidParts>[0], part: string[]][] = [
    [
      "a message",
      { role: "user", content: "Go.", aside: "I copied it." },
      ["message", "aside: I copied it."],
    ],
    [
      "a block",
      [{ type: "text", text: "Go.", citations: [{ cited: "rows" }] }],
      ["message", 'citations: [{"cited":"rows"}]'],
    ],
    [
      "reasoning",
      { type: "reasoning", summary: [], encrypted_content: "x", aside: "Hm." },
      ["reasoning", "aside: Hm."],
    ],
    ["a call", { type: "tool_use", id: "1", name: "shell", input, aside: "Hm." }, ["call", "aside: Hm."]],
    [
      "a second input",
      { type: "tool_use", name: "shell", input, args: { cp: "rows" } },
      ["call", 'args: {"cp":"rows"}'],
    ],
    [
      "within a function",
      { type: "function_call", function: { name: "shell", arguments: args, aside: "Hm." } },
      ["call", "aside: Hm."],
    ],
    [
      "beside a function",
      { tool_calls: [{ function: { name: "shell", arguments: args }, aside: "Hm." }] },
      ["call", "aside: Hm."],
    ],
    [
      "a call's output",
      { type: "mcp_call", name: "shell", arguments: args, output: "rows" },
      ["result", "rows"],
    ],
    ["a result", { role: "tool", content: "a.py", exit_code: 3 }, ["result", "exit_code: 3"]],
    [
      "a sentence as an id",
      { role: "user", content: "Go.", id: "I copied it." },
      ["message", "id: I copied it."],
    ],
    [
      "a long name",
      { role: "user", content: "Go.", model: "It was copied. ".repeat(9) },
      ["message", `model: ${"It was copied. ".repeat(9)}`],
    ],
  ];
  for (const [name, message, part] of cases) assert.deepEqual(saidParts(message).at(-1), part, name);
});

test("fields that say nothing of what was done, and names of models, are not shown", () => {
  const formal = {
    ...{
      id: "m1",
      index: 3,
      status: "completed",
      usage: { input_tokens: 9 },
      cache_control: { type: "ephemeral" },
    },
    ...{
      model: "Claude Sonnet 4.5",
      provider: "x",
      agent_name: "w",
      refusal: null,
      is_error: false,
      annotations: [],
    },
  };
  assert.deepEqual(saidParts({ role: "assistant", content: "Go.", ...formal }), [["message", "Go."]]);
  const nested = {
    phase: "final_answer",
    caller: { type: "direct" },
    provider_fields: { signature: "c2VhbA" },
  };
  assert.deepEqual(saidParts({ role: "assistant", content: "Go.", ...nested }), [["message", "Go."]]);
  assert.deepEqual(saidParts({ functionCall: { name: "shell", args: input }, thoughtSignature: "x" }), [
    call,
  ]);
  assert.deepEqual(saidParts({ type: "redacted_thinking", data: "c2VhbGVk" }), []);
  const unknown = { role: "assistant", model: "gpt-4o", extra: { by: { model: "gpt-4o" }, at: "x" } };
  assert.deepEqual(saidParts(unknown), [["message", '{"role":"assistant","extra":{"by":{},"at":"x"}}']]);
});

test("a call and its result keep the models that they name", () => {
  const named = { config: { model: "gpt2", lr: 1 } };
  assert.deepEqual(saidParts({ type: "tool_use", name: "train", input: named }), [
    ["call", 'train\nconfig: {"model":"gpt2","lr":1}'],
  ]);
  assert.deepEqual(saidParts({ type: "tool_result", content: named }), [
    ["result", '{"config":{"model":"gpt2","lr":1}}'],
  ]);
});

test("no message is of a kind that only the harness writes", () => {
  for (const word of ["prompt", "measurement", "note", "file"]) {
    const kinds = saidParts([
      { role: word, content: "x" },
      { type: word, kind: word, text: "x" },
      { kind: word },
    ]);
    assert.deepEqual(new Set(kinds.map(([kind]) => kind)), new Set(["message"]));
  }
});

test("a deep or malformed message is shown as far as it goes, and never throws", () => {
  const deep = JSON.parse(`${"[".repeat(200_000)}"x"${"]".repeat(200_000)}`);
  const nested = JSON.parse(`${'{"content":'.repeat(50_000)}"x"${"}".repeat(50_000)}`);
  for (const value of [deep, nested, { type: "tool_use", name: "shell", input: { deep } }])
    assert.match(String(saidParts(value)), /x/);
  assert.deepEqual(saidParts({ type: "tool_use", name: "shell", input: "{not json" }), [
    ["call", "shell\ninput: {not json"],
  ]);
});
