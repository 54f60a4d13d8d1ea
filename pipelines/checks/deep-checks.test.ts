// What the deep checks are planned as: a check says something about paid work only if it runs as that work does.
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";

const sources = sourceFiles(resolve(import.meta.dirname, "../.."));

function planned(profile: string, executor?: string) {
  const file = "pipelines/deep-checks.yaml";
  const loaded = loadPlan({ file, profile, executor }, sources, ["local", "docker", "slurm"]);
  assert.ok(!("problems" in loaded), JSON.stringify(loaded));
  return (name: string) => loaded.plan.instances.find(({ stage }) => stage.name === name)!;
}

for (const [profile, executor] of [
  ["paper", undefined],
  ["paper-sealed", undefined],
  ["rehearsal", "docker"],
] as const)
  test(`in ${profile}${executor ? ` sent to ${executor}` : ""} ten items run in the walls of scores, and the sandbox's checks where attempts do`, () => {
    const one = planned(profile, executor);
    const where = (name: string) => {
      const { stage, execution, action } = one(name);
      const { executor, image, network, resources } = execution;
      const { opens, untrusted } = stage;
      return { executor, image, network, resources, opens, untrusted, env: Object.keys(action.env) };
    };
    const { env: _, ...score } = where("score");
    assert.deepEqual(where("check-models"), { ...score, env: [] });
    assert.equal(score.opens, "untrusted");
    assert.equal(score.executor, "docker");
    for (const check of ["check-gpu", "check-snapshot", "check-network"])
      assert.deepEqual(where(check), where("attempt"));
  });
