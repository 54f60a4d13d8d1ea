// Which stages are refused as jobs of Slurm, and what the refusal says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { memorySources } from "@mlrb/core/testing/memory-sources";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import { refusals } from "./check.ts";
import { capsNothing, unfitForSlurm } from "./slurm-gate.ts";

/** The refusal of a pipeline with one stage, whose settings are YAML. */
function refusal(settings: string): string | undefined {
  const text = `formatVersion: 1\nname: test\ndefaults: { executor: slurm }\nstages:\n  one: { command: "true", ${settings} }\n`;
  const sources = memorySources({ "pipelines/test.yaml": text });
  const loaded = loadPlan({ file: "pipelines/test.yaml" }, sources, ["local", "slurm"]);
  if ("problems" in loaded) throw new Error(loaded.problems.map(renderDiagnostic).join("\n"));
  const unfit = unfitForSlurm(loaded.plan.instances);
  return unfit && renderDiagnostic(refusals([unfit])[0]!);
}

test("a stage with secrets is refused, with the way out", () => {
  assert.equal(
    refusal("secrets: [HF_TOKEN]"),
    `not-on-slurm: "one" gets secrets (HF_TOKEN), which would be written to a shared disk: it cannot be a Slurm job
  help: in the profile: stages: { one: { executor: local } }`,
  );
});

test("an attempt's secrets must be keys of its models, which stay on this host", () => {
  const attempt = (key: string) =>
    `untrusted: true, secrets: [A_KEY], params: { kind: llm, provider: openai, model: { id: m, key: ${key} } }`;
  assert.equal(refusal(attempt("A_KEY")), undefined);
  assert.match(
    refusal(attempt("B_KEY")) ?? "",
    /the key of no model of its agent's preset \(A_KEY\), and only such keys stay on this host/,
  );
});

test("an image is refused, of an attempt too", () => {
  for (const kind of ["", "untrusted: true, ", "opens: untrusted, "])
    assert.match(
      refusal(`${kind}image: "lab/score@sha256:${"0".repeat(64)}"`) ?? "",
      /^not-on-slurm: "one" has an image \(lab\/score@sha256:0+\), and a node shows its own programs.*executor: docker/s,
    );
});

test("a GPU's speed is refused", () => {
  assert.match(refusal("hostSensitive: true, resources: { gpus: 1 }") ?? "", /the speed of a GPU/);
});

test("a cap on the costs of several attempts is refused if one of them is a job", () => {
  const instances = (executor: string, seeds: string) => {
    const one = `  one: { each: [seed], untrusted: true, durable: true, command: "true", executor: ${executor} }`;
    const text = `formatVersion: 1\nname: test\naxes: { seed: [${seeds}] }\nstages:\n${one}\n`;
    const loaded = loadPlan({ file: "pipelines/test.yaml" }, memorySources({ "pipelines/test.yaml": text }), [
      "local",
      "slurm",
    ]);
    if ("problems" in loaded) throw new Error(loaded.problems.map(renderDiagnostic).join("\n"));
    return loaded.plan.instances;
  };
  assert.match(capsNothing(instances("slurm", "1, 2"))?.found ?? "", /--max-cost cannot hold/);
  assert.equal(capsNothing(instances("slurm", "1")), undefined);
  assert.equal(capsNothing(instances("local", "1, 2")), undefined);
});

test("any other stage may be a job", () => {
  for (const settings of [
    "hostSensitive: true",
    "untrusted: true",
    "resources: { gpus: 1 }",
    "opens: untrusted",
    "network: none",
  ])
    assert.equal(refusal(settings), undefined, settings);
});
