// What docs/machines.md shows is what the program does: its profile is valid and sends each stage where the page
// says, and the variables and commands that it names exist.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";

const repository = join(import.meta.dirname, "..");
const text = readFileSync(join(import.meta.dirname, "machines.md"), "utf8");

test("the profile of docs/machines.md runs attempts and scores on a GPU partition and the report on this host", () => {
  const [, diff] = /^```diff\n(.*?)^```$/ms.exec(text)!;
  const added = [...diff!.matchAll(/^\+( .*\n)/gm)].map(([, line]) => line!);
  const profiles = `profiles:\n${added.join("")}`;
  const file = "pipelines/own.yaml";
  const own = `formatVersion: 1\nname: own\nextends: full-benchmark\naxes: { task: [baby-lm] }\n${profiles}`;
  const real = sourceFiles(repository);
  const sources = { ...real, read: (path: string) => (path === file ? own : real.read(path)) };
  const loaded = loadPlan({ file, profile: "ours" }, sources, ["local", "docker", "slurm"]);
  if ("problems" in loaded) assert.fail(loaded.problems.map(renderDiagnostic).join("\n"));
  const of = (name: string) => loaded.plan.instances.find(({ stage }) => stage.name === name)!.execution;
  assert.equal(of("report").executor, "local");
  const cpu = { account: "ml-lab", constraint: "epyc", partition: "cpu", qos: "normal" };
  assert.deepEqual([of("validate").executor, of("validate").slurm], ["slurm", cpu]);
  for (const name of ["attempt", "score"]) {
    const { executor, slurm, resources } = of(name);
    assert.deepEqual(
      [executor, slurm, resources.gpus],
      ["slurm", { ...cpu, partition: "gpu", gres: "gpu:a100" }, 1],
    );
  }
});

test("docs/machines.md names no variable that the program neither reads nor sets", () => {
  const named = new Set(text.match(/\bMLRB_[A-Z_]+/g));
  assert.ok(named.size > 0);
  for (const name of named) {
    const { status } = spawnSync(
      "git",
      ["grep", "--quiet", "--word-regexp", name, "--", "runners", ":!*.test.ts"],
      { cwd: repository },
    );
    assert.equal(status, 0, name);
  }
});
