// Runs the scripted agents and the experts' script on models of a few thousand weights.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { assertTestsRan } from "../../tests/support/python-tests-ran.ts";
import { makeData, readRows } from "../testing/made-data.ts";
import { runPastDeadline, runScript, runTaskPython, submissionFiles } from "../testing/run-script.ts";

const here = import.meta.dirname;
const temporary = mkdtempSync(join(tmpdir(), "mlrb-llm-merging-scripts-"));
const given = join(temporary, "given");
before(() => {
  const made = makeData("llm-merging", { source: "smoke", folder: temporary });
  assert.equal(made.status, 0, made.stderr);
  cpSync(join(temporary, "public"), join(given, "data"), { recursive: true });
  python(given, ["llm-merging/testing/tiny_models.py", "data/dev.jsonl", "models"]);
});
after(() => rmSync(temporary, { recursive: true }));

test("a mixture is the weighted sum of its models' tensors", () => {
  assertTestsRan(python(given, ["llm-merging/testing/test_mix.py"]));
});

for (const agent of ["weak", "strong"]) {
  test(`${agent} submits a whole model and its record when the deadline leaves no time to measure`, () => {
    const workspace = workspaceOf(`${agent}-late`);
    const ran = runPastDeadline("llm-merging", { agent, workspace });
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, /the deadline is near: not measured/);
    const there = readdirSync(ran.submission);
    assert.deepEqual(
      submissionFiles.filter((file) => !there.includes(file)),
      [],
    );
    const provenance = JSON.parse(readFileSync(join(ran.submission, "provenance.json"), "utf8"));
    assert.deepEqual([provenance.data, provenance.trainTokens], [["llm-merging-dev"], 0]);
    const names = provenance.experts.map(({ name }: { name: string }) => name);
    const both = ["astronomy-expert", "nutrition-expert"];
    assert.deepEqual(names, agent === "weak" ? both.slice(0, 1) : both);
    const iterations = readRows<Iteration>(join(workspace, "iterations.jsonl"));
    assert.deepEqual(
      iterations.map(({ metric, decision }) => [metric.value, decision]),
      [[null, "hand in"]],
    );
  });

  test(`${agent} tries one candidate for each expert, each based on the one before`, () => {
    const workspace = attempt(agent, "1");
    const [first, second, ...more] = readRows<Iteration>(join(workspace, "iterations.jsonl"));
    assert.deepEqual(more, []);
    assert.deepEqual([first!.parent, second!.parent], [null, first!.id]);
    assert.ok(first!.metric.value! >= 0 && second!.metric.value! >= 0);
    assert.equal(first!.decision, "hand in");
    assert.ok(["hand in", "keep the one before"].includes(second!.decision));
    assert.deepEqual(readdirSync(workspace).sort(), ["data", "iterations.jsonl", "models", "submission"]);
  });
}

test("every seed submits the same bytes", () => {
  const [once, twice] = [join(temporary, "strong-1"), attempt("strong", "2")];
  for (const file of readdirSync(join(once, "submission")))
    assert.ok(bytes(once, `submission/${file}`).equals(bytes(twice, `submission/${file}`)), file);
});

test("each expert is a whole model with its own weights, and two runs make the same bytes", () => {
  const [once, twice] = ["once", "twice"].map((name) => {
    const models = join(temporary, `models-${name}`);
    mkdirSync(models);
    const inputs = { base: join(given, "models/base"), private: join(temporary, "private") };
    const flags = Object.entries(inputs).map(([input, path]) => `--input=${input}=${path}`);
    python(given, ["llm-merging/experts.py", ...flags, `--output=models=${models}`]);
    return models;
  }) as [string, string];
  assert.deepEqual(readdirSync(once).sort(), ["astronomy-expert", "base", "nutrition-expert"]);
  const weights = (folder: string, name: string) => bytes(folder, `${name}/model.safetensors`);
  for (const name of readdirSync(once)) assert.ok(weights(once, name).equals(weights(twice, name)), name);
  assert.ok(weights(once, "base").equals(weights(join(given, "models"), "base")));
  assert.ok(!weights(once, "astronomy-expert").equals(weights(once, "nutrition-expert")));
  for (const name of ["astronomy-expert", "nutrition-expert"])
    assert.ok(!readdirSync(join(once, name)).some((file) => file.startsWith("adapter")), name);
});

type Iteration = {
  id: string;
  parent: string | null;
  decision: string;
  metric: { value: number | null };
};

function bytes(folder: string, file: string): Buffer {
  return readFileSync(join(folder, file));
}

/** The workspace of a `agent` run with enough time. */
function attempt(agent: string, seed: string): string {
  const workspace = workspaceOf(`${agent}-${seed}`);
  const ran = runScript("llm-merging", { agent, workspace, seed }, 600);
  assert.equal(ran.status, 0, ran.stderr);
  return workspace;
}

function workspaceOf(name: string): string {
  const workspace = join(temporary, name);
  cpSync(given, workspace, { recursive: true });
  return workspace;
}

function python(cwd: string, command: string[]): string {
  const path = [join(here, "scripts"), join(here, "../../runners/kit/python")];
  const ran = runTaskPython(command, { cwd, path });
  assert.equal(ran.status, 0, ran.stderr);
  return ran.stderr;
}
