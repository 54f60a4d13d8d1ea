// What the shipped pipelines and presets come to together.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { agentModels } from "@mlrb/agents/model/agent-models";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { readManifest, type Sources, unplannable } from "@mlrb/core/spec/manifest";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { executorNames } from "./run/executors.ts";

const repository = join(import.meta.dirname, "../../..");
const disk = sourceFiles(repository);
/** A scaffold without a model is planned with one. */
const agents = readdirSync(join(repository, "runners/agents/presets")).map((file) => {
  const name = file.replace(/\.yaml$/, "");
  const preset = readManifest("agent", name, disk);
  assert.ok(preset && !Array.isArray(preset), name);
  return unplannable("agent", preset) ? `${name}@openai:gpt-4o-2024-08-06` : name;
});

/** As one could write it: a worker of one provider, a judge of another. */
const several = `formatVersion: 1
name: several
title: several
kind: command
command: [agent]
gateway: [{ provider: anthropic, ids: [claude-opus-5-5] }, { provider: mine, baseUrl: "http://127.0.0.1:1/v1", ids: [judge] }]
`;
const presets = (file: string) => file === "runners/agents/presets/several.yaml";
const sources: Sources = {
  ...disk,
  read: (file) => (presets(file) ? several : disk.read(file)),
  kind: (file) => (presets(file) ? "file" : disk.kind(file)),
};

for (const pipeline of ["full-benchmark", "hello"])
  test(`in ${pipeline} exactly the attempts that call a model hold a part of each of its providers' pools`, () => {
    const file = `pipelines/${pipeline}.yaml`;
    const set = { agent: [...agents, "several"], task: ["baby-lm"], seed: ["1"] };
    const asked = { file, profile: undefined, set, executor: undefined };
    const loaded = loadPlan(asked, sources, executorNames);
    assert.ok(!("problems" in loaded), JSON.stringify(loaded, undefined, 1).slice(0, 1000));
    const { plan } = loaded;
    const attempts = plan.instances.filter(({ stage }) => stage.durable);
    assert.equal(attempts.length, agents.length + 1);
    for (const { id, action, execution } of attempts) {
      const providers = [...new Set(agentModels(action.params).map(({ provider }) => `api:${provider}`))];
      assert.deepEqual(execution.resources.pools, Object.fromEntries(providers.map((pool) => [pool, 1])), id);
      for (const pool of providers) assert.equal(plan.pools[pool], 4, pool);
    }
  });
