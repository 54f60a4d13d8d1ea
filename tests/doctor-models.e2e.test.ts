// `pipeline doctor --models`, through the program, against a double of the providers: what a person learns before
// an attempt of a day about a retired model, a missing key or a server that is not running.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { lab } from "./support/lab.ts";
import { startLoopbackProvider } from "./support/providers/loopback-provider.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const provider = await startLoopbackProvider({
  script: ({ model }) =>
    model.startsWith("old") ? { status: 404, complaint: "retired-model" } : { text: "yes" },
});
after(async () => {
  repository.remove();
  await provider.close();
});

function preset(name: string, { id, of, baseUrl }: { id: string; of: string; baseUrl: string }): void {
  repository.write(
    `runners/agents/presets/${name}.yaml`,
    JSON.stringify({
      formatVersion: 1,
      name,
      title: name,
      kind: "llm",
      provider: of,
      model: { id, baseUrl, key: "ACME_KEY", contextTokens: 8000 },
      scaffold: "react",
      secrets: ["ACME_KEY"],
    }),
  );
}

test("doctor reports for each agent whether its model answers, only on request, and never shows a key", async (t) => {
  preset("fresh", { id: "new-model", of: "openai", baseUrl: provider.baseUrl });
  preset("stale", { id: "old-model", of: "anthropic", baseUrl: provider.baseUrl });
  preset("down", { id: "any", of: "vllm", baseUrl: "http://127.0.0.1:9/v1" });
  const at = lab(t, repository);
  const stages = { ask: { each: ["agent"], command: "true" } };
  at.define({
    axes: { agent: ["fresh"] },
    profiles: {
      good: { default: true },
      bad: { axes: { agent: ["fresh", "stale", "down", "nop"] } },
    },
    stages,
  });
  const args = ["doctor", at.name, "--root", at.root];
  const env = { ACME_KEY: provider.key };

  const unasked = await at.pipeline(args, { env });
  assert.equal(unasked.code, 0, unasked.stderr);
  assert.doesNotMatch(unasked.stdout, /model of/);
  assert.equal(provider.seen.length, 0);

  const asked = await at.pipeline([...args, "--models"], { env });
  assert.equal(asked.code, 0, asked.stderr);
  assert.equal(provider.seen.length, 2, "each model once");
  const [good, bad] = asked.stdout.split("--profile ").slice(1);
  assert.match(
    good!,
    /^good \(default\): can run here\n[\s\S]*ok +model of fresh +new-model: openai answers/,
  );
  assert.match(bad!, /^bad: cannot run here\n/);
  assert.match(bad!, /MISSING +model of stale +old-model: .*retired/);
  assert.match(bad!, /name a current model in the preset/);
  assert.match(bad!, /MISSING +model of down +any: .*\n +check the network.*is it started\?/);
  assert.doesNotMatch(bad!, /model of nop/);

  const keyless = await at.pipeline([...args, "--models", "--json"], { env: { ACME_KEY: "" } });
  assert.equal(keyless.code, 1);
  const [first] = keyless.lines.filter(({ event }) => event === "profile") as {
    checks?: { name: string; found: string }[];
  }[];
  const found = first!.checks!.find(({ name }) => name === "model of fresh")!.found;
  assert.equal(found, "new-model: ACME_KEY is not set");

  for (const { stdout, stderr } of [unasked, asked, keyless])
    assert.ok(!(stdout + stderr).includes(provider.key));
});

test("doctor looks at one profile with chosen values, and asks the models of named agents", async (t) => {
  preset("kept", { id: "new-model", of: "openai", baseUrl: provider.baseUrl });
  preset("gone", { id: "old-model", of: "anthropic", baseUrl: provider.baseUrl });
  const at = lab(t, repository);
  at.define({
    axes: { agent: ["nop"], seed: [1, 2] },
    profiles: {
      good: { default: true },
      bad: { stages: { ask: { resources: { gpus: 9000 } } } },
    },
    stages: { ask: { each: ["agent", "seed"], command: "true" } },
  });
  const doctor = (...more: string[]) =>
    at.pipeline(["doctor", at.name, "--root", at.root, ...more], { env: { ACME_KEY: provider.key } });
  const bad = await doctor("--profile", "bad", "--set", "seed=1");
  assert.equal(bad.code, 1, "the chosen profile decides");
  assert.match(bad.stdout, /--profile bad: cannot run here\n +ok +plan +1 stage instances/);
  assert.doesNotMatch(bad.stdout, /--profile good \(default\)/);
  assert.equal((await doctor("--set", "seed=2")).code, 0);

  const asked = provider.seen.length;
  const named = await doctor("--models", "kept,nop");
  assert.equal(named.code, 0, named.stdout);
  assert.match(named.stdout, /ok +model of kept +new-model: openai answers/);
  assert.match(named.stdout, /note +model of nop +none/);
  assert.equal(provider.seen.length, asked + 1, "no other model is asked");
  const gone = await doctor("--models", "gone");
  assert.equal(gone.code, 1);
  assert.match(gone.stdout, /MISSING +model of gone +old-model: .*retired/);
  const after = await at.pipeline(["doctor", "--models", at.name, "--root", at.root]);
  assert.equal(after.code, 0, after.stderr);
  assert.match(
    after.stdout,
    /--profile good \(default\): can run here/,
    "a pipeline after --models is no agent",
  );

  for (const [words, said] of [
    [
      ["--models", "keptt"],
      /unknown-agent: --models names no agent: "keptt"\n {2}help: did you mean "kept"\?/,
    ],
    [["--profile", "goof"], /unknown-profile: .*"goof"\n {2}help: did you mean "good"\?/],
    [["--set", "seed"], /bad-set/],
  ] as const) {
    const refused = await doctor(...words);
    assert.equal(refused.code, 2, refused.stdout);
    assert.match(refused.stderr, said);
  }
});
