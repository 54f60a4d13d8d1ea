import assert from "node:assert/strict";
import { test } from "node:test";
import { foreignExtracts } from "./foreign-extracts.ts";

const limits = { characters: 100_000, eventCharacters: 5_000 };
const read = (value: unknown) => foreignExtracts(JSON.stringify(value), limits);
const shown = (value: unknown) => {
  const extracts = read(value);
  assert.ok(typeof extracts !== "string", String(extracts));
  return extracts.map(({ events }) => events.map(({ kind, text }) => `${kind}|${text}`));
};

const atif = {
  schema_version: "ATIF-v1.6",
  session_id: "s",
  agent: { name: "terminus-2", version: "1", model_name: "anthropic/claude-sonnet-4-5" },
  steps: [
    { step_id: 1, source: "user", message: "Train.", timestamp: "2026-01-02T00:00:00Z" },
    {
      step_id: 2,
      source: "agent",
      model_name: "claude-sonnet-4-5-20250929",
      message: "I am Claude Sonnet 4.5 in terminus-2.",
      reasoning_content: "Hm.",
      tool_calls: [{ tool_call_id: "1", function_name: "bash", arguments: { cmd: "ls" } }],
      observation: { results: [{ source_call_id: "1", content: "a.py" }] },
      metrics: { cost_usd: 0.25 },
    },
  ],
  subagent_trajectories: [
    {
      schema_version: "ATIF-v1.6",
      agent: { name: "w" },
      steps: [{ source: "agent", message: [{ type: "text", text: "Done." }] }],
    },
  ],
};

test("a trajectory of ATIF is read with its subagents, without names, times and costs", () => {
  assert.deepEqual(shown(atif), [
    [
      "prompt|user:\nTrain.",
      "reasoning|agent:\nHm.",
      "message|agent:\nI am [the agent's model] in [the agent].",
      "call|agent:\nbash\ncmd: ls",
      "result|agent:\na.py",
      "message|agent:\nDone.",
    ],
  ]);
});

test("only the first step of a user is the prompt, whatever an agent says", () => {
  const steps = [...atif.steps, { source: "user", message: "Go on." }];
  const [events] = shown({ ...atif, steps, subagent_trajectories: [] });
  assert.equal(events!.filter((one) => one.startsWith("prompt")).length, 1);
});

test("each sample of a log of Inspect is an extract, with its attachments", () => {
  const log = {
    version: 2,
    status: "success",
    eval: { model: "openai/gpt-4o", task: "t", solver: "basic_agent" },
    samples: [
      {
        id: 1,
        attachments: { abc123: "a long text" },
        scores: { accuracy: { value: 0.8731 } },
        messages: [
          { role: "system", content: "Rules." },
          { role: "user", content: "Train." },
          {
            role: "assistant",
            model: "gpt-4o-2024-08-06",
            content: [
              { type: "reasoning", reasoning: "Hm." },
              { type: "text", text: "GPT-4o looks." },
            ],
            tool_calls: [
              { id: "1", function: "bash", arguments: { cmd: "attachment://abc123" }, type: "function" },
            ],
          },
          {
            role: "tool",
            tool_call_id: "1",
            function: "bash",
            content: "",
            error: { type: "timeout", message: "too slow" },
          },
        ],
      },
      { id: 2, attachments: {}, messages: [{ role: "user", content: "Other." }] },
    ],
  };
  assert.deepEqual(shown(log), [
    [
      "message|system:\nRules.",
      "prompt|user:\nTrain.",
      "reasoning|assistant:\nHm.",
      "message|assistant:\n[the agent's model] looks.",
      "call|assistant:\nbash\ncmd: a long text",
      "result|tool:\ntoo slow",
    ],
    ["prompt|user:\nOther."],
  ]);
});

test("unknown versions, damaged files and empty trajectories are told", () => {
  for (const version of ["ATIF-v2.0", "ATIF-v1", undefined])
    assert.match(String(read({ ...atif, schema_version: version })), /neither|no JSON of ATIF/);
  assert.match(String(read({ version: 1, eval: {}, samples: [] })), /version 2/);
  assert.match(String(foreignExtracts("{", limits)), /no JSON/);
  assert.match(String(read({ ...atif, steps: [], subagent_trajectories: [] })), /says nothing/);
  assert.match(String(read({ version: 2, eval: {} })), /says nothing/);
  assert.ok(Array.isArray(read({ ...atif, steps: [null, 3, "x", { source: 4, tool_calls: "y" }] })));
});
