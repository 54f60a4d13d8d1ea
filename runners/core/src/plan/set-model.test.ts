import assert from "node:assert/strict";
import { test } from "node:test";
import { memorySources, repository } from "../testing/memory-sources.ts";
import { renderDiagnostic } from "../yaml/diagnostic.ts";
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

const judging = `formatVersion: 1
name: test
axes: { judge: [], seed: [] }
stages:
  ask:
    each: [judge]
    script: steps/a.ts
    params: { model: "{judge.model}" }
    secrets: "{judge.secrets}"
    resources: { pools: { "api:{judge.providers}": 1 } }
    gives: { answers: dir }
  count: { each: [seed], script: steps/a.ts }
  asked: { script: steps/a.ts, when: "{judge.model}" }
  tell: { script: steps/b.ts, collect: [ask.answers] }
pools: { "api:*": 4 }
`;
const any = `formatVersion: 1
name: any
title: Any model
kind: llm
model: { contextTokens: 9000, maxOutputTokens: 99, temperature: 0.5 }
planner: { provider: openai, id: p, contextTokens: 9000 }
`;

const recorded = `formatVersion: 1
name: recorded
title: Recorded answers
kind: llm
provider: recorded
model: { id: authored, contextTokens: 9000 }
`;
function loadJudged(set: Selection, body = judging) {
  const presets = { talker, local, any, recorded, cli };
  const files = Object.entries(presets).map(([name, text]) => [`runners/agents/presets/${name}.yaml`, text]);
  const sources = memorySources({
    ...repository,
    ...Object.fromEntries(files),
    "pipelines/test.yaml": body,
  });
  return loadPlan({ file: "pipelines/test.yaml", set }, sources, ["local"]);
}

function judgedBy(set: Selection) {
  const result = loadJudged(set);
  assert.ok("plan" in result, JSON.stringify(result));
  return result.plan;
}

function refusedBy(set: Selection, body = judging): string {
  const result = loadJudged(set, body);
  assert.ok("problems" in result, JSON.stringify(result));
  return result.problems.map((one) => renderDiagnostic(one)).join("\n");
}

test("a judge that names no provider and model is refused as a judge, with the way out", () => {
  const refused = (judge: string) => `judge "${judge}" names no provider and model
  help: write --set judge=PROVIDER/ID, e.g. --set judge=openai/gpt-4o-2024-08-06; \`pnpm pipeline list judges\` shows presets`;
  for (const odd of [
    "openai/",
    "/x",
    "openai//x",
    "openai/x/",
    "a b/c",
    "openai/a~b",
    `openai/${"x".repeat(100)}`,
  ])
    assert.equal(refusedBy({ judge: [odd] }), `unknown-judge: ${refused(odd)}`);
  assert.match(
    refusedBy({ judge: ["talker@openai:"] }),
    /unknown-model: .*\n.*of a judge --set judge=PROVIDER/,
  );
});

test("a program is no judge with any model, and recorded answers are no agent", () => {
  for (const judge of ["cli", "cli@anthropic:x", "cli@openai:model-2"])
    assert.match(refusedBy({ judge: [judge] }), /"cli" cannot judge: the preset names no provider/);
  const attempting = `formatVersion: 1
name: test
axes: { agent: [recorded] }
stages:
  attempt: { each: [agent], script: steps/a.ts, params: { agent: "{agent.kind}" } }
`;
  assert.match(refusedBy({}, attempting), /:5:11 unknown-agent: "recorded" is no agent: it has recorded/);
  const others = refusedBy({ agent: ["zzzzzzz"] }, attempting);
  assert.match(others, /known: any, basic, cli, idle, local, talker;/m);
  assert.match(refusedBy({ judge: ["zzzzzzz"] }), /known: any, local, recorded, talker;/);
});

test("a stage over an empty axis has no instances, what collects it gathers nothing, and --set fills the axis", () => {
  const idsOf = (set: Selection) => judgedBy(set).instances.map(({ id }) => id);
  assert.deepEqual(idsOf({}), ["tell"]);
  assert.deepEqual(judgedBy({}).instances[0]!.members, []);
  assert.deepEqual(idsOf({ judge: ["talker"], seed: ["3"] }).sort(), [
    "ask[judge=talker]",
    "asked",
    "count[seed=3]",
    "tell",
  ]);
});

test("of a preset as judge only its own model counts: its provider, its key and its pool", () => {
  const [ask] = judgedBy({ judge: ["talker"] }).instances.filter(({ stage }) => stage.name === "ask");
  assert.deepEqual(ask!.action.params.model, {
    ...{ provider: "anthropic", id: "claude-x", key: "ANTHROPIC_API_KEY", contextTokens: 9000 },
    ...{ temperature: 0, maxOutputTokens: 99, options: { a: 1 } },
  });
  assert.deepEqual(ask!.action.secrets, ["ANTHROPIC_API_KEY", "HF_TOKEN"]);
  assert.deepEqual(ask!.execution.resources.pools, { "api:anthropic": 1 });
});

test("a judge is chosen by its model alone, with the limits of a preset that is open to any", () => {
  const asks = judgedBy({ judge: ["google/models/gem-1", "talker@anthropic:claude-y"] }).instances.filter(
    ({ stage }) => stage.name === "ask",
  );
  assert.deepEqual(
    asks.map(({ id, execution }) => [id, Object.keys(execution.resources.pools)]),
    [
      ["ask[judge=any@google:models~gem-1]", ["api:google"]],
      ["ask[judge=talker@anthropic:claude-y]", ["api:anthropic"]],
    ],
  );
  assert.deepEqual(asks[0]!.action.params.model, {
    ...{ provider: "google", id: "models/gem-1", key: "GEMINI_API_KEY" },
    ...{ contextTokens: 9000, maxOutputTokens: 99, temperature: 0.5 },
  });
});
