import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelProbe } from "@mlrb/agents/model/probe-model";
import { memorySources } from "@mlrb/core/testing/memory-sources";
import { modelChecks, presetModels } from "./model-checks.ts";

const preset = (name: string, rest: string) => `formatVersion: 1
name: ${name}
title: T
${rest}`;
const sources = memorySources({
  "runners/agents/presets/gpt.yaml": preset(
    "gpt",
    `kind: llm
provider: openai
model: { id: gpt-x, key: OPENAI_API_KEY, contextTokens: 1000 }
secrets: [OPENAI_API_KEY]
`,
  ),
  "runners/agents/presets/gpt-supervisor.yaml": preset(
    "gpt-supervisor",
    `kind: llm
provider: openai
model: { id: gpt-x, key: OPENAI_API_KEY, contextTokens: 2000 }
secrets: [OPENAI_API_KEY]
scaffold: supervisor-worker
`,
  ),
  "runners/agents/presets/local.yaml": preset(
    "local",
    `kind: llm
provider: vllm
model: { id: qwen, baseUrl: http://127.0.0.1:8000/v1, contextTokens: 1000 }
`,
  ),
  "runners/agents/presets/two.yaml": preset(
    "two",
    `kind: llm
provider: anthropic
model: { id: claude-x, contextTokens: 1000 }
planner: { provider: openai, id: planner-x, contextTokens: 1000 }
scaffold: mlrb-2024
`,
  ),
  "runners/agents/presets/script.yaml": preset("script", "kind: command\ncommand: [python, x.py]\n"),
  "runners/agents/presets/half.yaml": preset("half", "kind: llm\nprovider: openai\n"),
  "runners/agents/presets/broken.yaml": "kind: [llm\n",
});

const probed = (answer: ModelProbe["answer"]): ModelProbe => ({
  answer,
  found: `it is ${answer}`,
  wayOut: answer === "works" ? null : "do something",
});

test("only presets that name a model are probed", () => {
  const names = ["gpt", "local", "script", "half", "broken", "none"];
  assert.deepEqual(
    presetModels(names, sources).map(({ agent, spec }) => [
      agent,
      spec.provider,
      spec.id,
      spec.key,
      spec.baseUrl,
    ]),
    [
      ["gpt", "openai", "gpt-x", "OPENAI_API_KEY", undefined],
      ["local", "vllm", "qwen", undefined, "http://127.0.0.1:8000/v1"],
    ],
  );
});

test("agents with the same model share a probe, and each has a check", async () => {
  const asked: [string, string | undefined][] = [];
  const checks = await modelChecks(presetModels(["gpt", "gpt-supervisor", "local"], sources), {
    async probe({ spec: { id } }, key) {
      asked.push([id, key]);
      return probed(id === "qwen" ? "unreachable" : "works");
    },
    keyOf: (name) => `the value of ${name}`,
  });
  assert.deepEqual(asked, [
    ["gpt-x", "the value of OPENAI_API_KEY"],
    ["qwen", undefined],
  ]);
  assert.deepEqual(
    [...checks.values()].flat().map(({ name, answer, found, help }) => [name, answer, found, help]),
    [
      ["model of gpt", "works", "gpt-x: it is works", undefined],
      ["model of gpt-supervisor", "works", "gpt-x: it is works", undefined],
      ["model of local", "missing", "qwen: it is unreachable", "do something"],
    ],
  );
});

test("the planner of a preset has a check of its own", async () => {
  const checks = await modelChecks(presetModels(["two"], sources), {
    probe: async ({ spec: { id } }) => probed(id === "planner-x" ? "retired" : "works"),
    keyOf: () => undefined,
  });
  assert.deepEqual(
    checks.get("two")!.map(({ name, answer }) => [name, answer]),
    [
      ["model of two", "works"],
      ["planner of two", "missing"],
    ],
  );
});

test("an unavailable model stops a profile, a busy one does not", async () => {
  const saidOf = async (answer: ModelProbe["answer"]) => {
    const checks = await modelChecks(presetModels(["gpt"], sources), {
      probe: async () => probed(answer),
      keyOf: () => undefined,
    });
    return checks.get("gpt")![0]!.answer;
  };
  for (const gone of ["retired", "no-key", "refused-key", "no-money", "unreachable"] as const)
    assert.equal(await saidOf(gone), "missing", gone);
  for (const late of ["busy", "unclear"] as const) assert.equal(await saidOf(late), "note", late);
});
