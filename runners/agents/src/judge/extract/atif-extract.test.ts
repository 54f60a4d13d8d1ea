import assert from "node:assert/strict";
import { test } from "node:test";
import { parsedJson } from "../../model/json-text.ts";
import { atifExtract } from "./atif-extract.ts";

const limits = { characters: 100_000, eventCharacters: 5_000 };
const read = (value: object) => atifExtract(parsedJson(JSON.stringify(value)), limits);
const shown = (value: object) => {
  const found = read(value);
  assert.ok(typeof found !== "string", String(found));
  return found.events.map(({ kind, text }) => `${kind}|${text}`);
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
    "prompt|user:\nTrain.",
    "reasoning|agent:\nHm.",
    "message|agent:\nI am [the agent's model] in [the agent].",
    "call|agent:\nbash\ncmd: ls",
    "result|agent:\na.py",
    "message|agent:\nDone.",
  ]);
});

test("fields of no known name are shown: of a step, a call, a result and a whole trajectory", () => {
  const [, step] = atif.steps;
  const [call] = step!.tool_calls!;
  const found = shown({
    ...{ ...atif, notes: "Rows were copied.", subagent_trajectories: [] },
    steps: [
      {
        ...step,
        extra: { aside: "A plan." },
        tool_calls: [{ ...call, extra: "with care" }],
        observation: { results: [{ source_call_id: "1", content: "a.py", extra: { code: 3 } }] },
      },
    ],
  });
  const others = ["call|agent:\nextra: with care", 'result|agent:\nextra: {"code":3}'];
  const last = [
    'message|agent:\nextra: {"aside":"A plan."}',
    "message|about the trajectory:\nnotes: Rows were copied.",
  ];
  for (const text of [...others, ...last]) assert.ok(found.includes(text), `${text} of ${found.join("|")}`);
});

test("subagents of subagents are read, and a trajectory in another file counts as left out", () => {
  const done = { source: "agent", message: "I am inner-9, deep down." };
  const inner = { agent: { name: "inner-9" }, trajectory_id: "i", steps: [done] };
  const ref = (one: object) => ({
    ...{ source: "agent", message: "Go." },
    observation: { results: [{ content: "ok", subagent_trajectory_ref: [one] }] },
  });
  const leftOut = (one: object, more: object = {}) => {
    const steps = [ref(one)];
    const middle = { agent: { name: "m" }, trajectory_id: "m", steps, subagent_trajectories: [inner] };
    const found = read({ ...atif, ...more, subagent_trajectories: [middle] });
    assert.ok(typeof found !== "string");
    assert.ok(found.events.some(({ text }) => text === "agent:\nI am [the agent], deep down."));
    return found.leftOut.events;
  };
  assert.equal(leftOut({ trajectory_id: "i" }), 0);
  assert.equal(leftOut({ session_id: "s", trajectory_path: "other.json" }), 1);
  assert.equal(leftOut({ trajectory_id: "i" }, { continued_trajectory_ref: "other.json" }), 1);
});

test("only the first step of a user is the prompt, whatever an agent says", () => {
  const steps = [...atif.steps, { source: "user", message: "Go on." }];
  const events = shown({ ...atif, steps, subagent_trajectories: [] });
  assert.equal(events.filter((one) => one.startsWith("prompt")).length, 1);
});

test("unknown versions, damaged files and empty trajectories are told", () => {
  for (const version of ["ATIF-v2.0", "ATIF-v1", "ATIF-v1.6x", undefined])
    assert.match(String(read({ ...atif, schema_version: version })), /ATIF 1\.x/);
  assert.match(String(atifExtract(parsedJson("{"), limits)), /ATIF 1\.x/);
  assert.match(String(read({ ...atif, steps: [], subagent_trajectories: [] })), /no steps/);
  assert.match(String(read({ ...atif, steps: "none", subagent_trajectories: {} })), /no steps/);
  assert.ok(typeof read({ ...atif, steps: [null, 3, "x", { source: 4, tool_calls: "y" }] }) === "object");
});
