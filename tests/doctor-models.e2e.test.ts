// `pipeline doctor --models`, through the program, against a double of the providers: what a person learns before an
// attempt of a day about a retired model, a missing key or a server that is not running.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { lab } from "./support/lab.ts";
import { startLoopbackProvider } from "./support/loopback-provider.ts";
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
