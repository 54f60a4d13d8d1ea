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
    assert.equal(saidParts(value).length, 1);
  assert.deepEqual(saidParts({ type: "tool_use", name: "shell", input: "{not json" }), [
    ["call", "shell\ninput: {not json"],
  ]);
});
