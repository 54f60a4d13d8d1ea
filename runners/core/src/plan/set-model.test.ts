import assert from "node:assert/strict";
import { test } from "node:test";
import { memorySources, repository } from "../testing/memory-sources.ts";
import { loadPlan } from "./load-plan.ts";
import type { Selection } from "./resolve-axes.ts";

const pipeline = `formatVersion: 1
name: test
axes: { agent: [talker] }
stages:
  attempt:
    each: [agent]
    script: steps/a.ts
    params: { preset: "{agent.preset}", title: "{agent.title}" }
    secrets: "{agent.secrets}"
`;
const talker = `formatVersion: 1
name: talker
title: Talker
kind: llm
provider: anthropic
model:
  { id: claude-x, key: ANTHROPIC_API_KEY, contextTokens: 9000, temperature: 0, maxOutputTokens: 99, options: { a: 1 } }
scaffold: react
secrets: [ANTHROPIC_API_KEY, HF_TOKEN]
`;
const local = `formatVersion: 1
name: local
title: Local
kind: llm
provider: vllm
model: { id: m, baseUrl: "http://127.0.0.1:8000/v1", contextTokens: 9000, free: true }
`;
const cli = `formatVersion: 1
name: cli
title: A CLI
kind: command
command: [sh, -c, "export SMALL=model-1; exec cli --model openai/model-1 --weak model-1-mini"]
gateway: [{ provider: openai, key: OPENAI_API_KEY, ids: [model-1, model-1-mini] }]
secrets: [OPENAI_API_KEY]
`;

function attempts(set: Selection) {
  const presets = Object.entries({ talker, local, cli }).map(([name, text]) => [
    `runners/agents/presets/${name}.yaml`,
    text,
  ]);
  const files = { ...repository, "pipelines/test.yaml": pipeline, ...Object.fromEntries(presets) };
  const result = loadPlan({ file: "pipelines/test.yaml", set }, memorySources(files), ["local"]);
  assert.ok("plan" in result, JSON.stringify(result));
  const { selection, instances } = result.plan;
  return {
    selection,
    attempts: instances.map(({ id, action: { params, secrets } }) => ({
      ...{ id, secrets, title: params.title },
      preset: params.preset as Record<string, unknown>,
    })),
  };
}

test("each chosen model is an agent of its own, with the model in its name, its title and its parameters", () => {
  const { selection, attempts: made } = attempts({ model: ["anthropic/claude-y", "anthropic/claude-z"] });
  assert.deepEqual(
    made.map(({ id, title, preset }) => [id, title, (preset.model as { id: string }).id]),
    [
      ["attempt[agent=talker@anthropic:claude-y]", "talker with anthropic/claude-y", "claude-y"],
      ["attempt[agent=talker@anthropic:claude-z]", "talker with anthropic/claude-z", "claude-z"],
    ],
  );
  assert.equal(selection, "agent=talker@anthropic:claude-y+talker@anthropic:claude-z");
});

test("a model of the preset's provider keeps every other field of the preset", () => {
  const [own] = attempts({}).attempts;
  const [other] = attempts({ model: ["anthropic/claude-y"] }).attempts;
  const { model, ...rest } = own!.preset;
  assert.deepEqual(other!.preset, { ...rest, model: { ...(model as object), id: "claude-y" } });
  assert.deepEqual(other!.secrets, own!.secrets);
});

test("a model of another provider has that provider's key, and none of the preset's options", () => {
  const [made] = attempts({ model: ["openai/gpt-y"] }).attempts;
  assert.deepEqual(made!.preset.model, {
    ...{ id: "gpt-y", key: "OPENAI_API_KEY", contextTokens: 9000, maxOutputTokens: 99, temperature: 0 },
  });
  assert.deepEqual([made!.preset.provider, made!.secrets], ["openai", ["HF_TOKEN", "OPENAI_API_KEY"]]);
});

test("an id with slashes and colons is a name without slashes, and the endpoint gets the id unchanged", () => {
  const [made] = attempts({ agent: ["local"], model: ["vllm/Qwen/Qwen3:8b"] }).attempts;
  assert.equal(made!.id, "attempt[agent=local@vllm:Qwen~Qwen3:8b]");
  const { id, baseUrl, free } = made!.preset.model as Record<string, unknown>;
  assert.deepEqual([id, baseUrl, free], ["Qwen/Qwen3:8b", "http://127.0.0.1:8000/v1", true]);
});

test("the command of a coding CLI names the chosen model wherever it named its own, and only there", () => {
  const [made] = attempts({ agent: ["cli"], model: ["openai/gpt-y"] }).attempts;
  assert.deepEqual(made!.preset.command, [
    ...["sh", "-c", "export SMALL=gpt-y; exec cli --model openai/gpt-y --weak model-1-mini"],
  ]);
  assert.deepEqual(made!.preset.gateway, [
    { provider: "openai", key: "OPENAI_API_KEY", ids: ["gpt-y", "model-1-mini"] },
  ]);
});

test("the name with its model selects the same attempt as --set model", () => {
  const [one] = attempts({ model: ["openai/gpt-y"] }).attempts;
  const [other] = attempts({ agent: ["talker@openai:gpt-y"] }).attempts;
  assert.deepEqual(one, other);
});
