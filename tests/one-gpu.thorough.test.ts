// The profile one-gpu from its sources to its tables, on a machine without GPU, hub and provider, as the rehearsal of
// the paper's profile: real scripts, doubles of hub and provider. The double of GPT-2 is a tiny random model, so
// that its perplexity is not the published one until the test makes it so.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { shell, submit } from "./support/attempts/llm-attempts.ts";
import { indexVariables } from "./support/demonstration/play.ts";
import { recordsIn } from "./support/end-state.ts";
import { shareEnvironments } from "./support/environments.ts";
import { leftovers } from "./support/lab.ts";
import { LOOPBACK_KEY, startLoopbackProvider } from "./support/providers/loopback-provider.ts";
import { publishSources } from "./support/rehearsal/official-sources.ts";
import { type Line, startProgram } from "./support/run-program.ts";
import { LoopbackHub } from "./support/servers/loopback-hub.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const missing = await bubblewrapMissing();
const repository = throwAwayRepository();
const root = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-one-gpu-")));
const hub = await new LoopbackHub().start();
const program = readFileSync(join(import.meta.dirname, "support/rehearsal/agent.py"), "utf8");
const provider = await startLoopbackProvider({
  script: ({ messages }) =>
    messages.some(({ role }) => role === "tool")
      ? submit()
      : shell(`cat > agent.py <<'END'\n${program}\nEND\npython agent.py`),
});
after(async () => {
  hub.close();
  await provider.close();
  repository.remove();
  removeFolder(root);
});
shareEnvironments(root);

const env = { ...indexVariables(), HF_ENDPOINT: hub.endpoint, OPENAI_API_KEY: LOOPBACK_KEY };
const pipeline = (...args: string[]) =>
  startProgram(repository.path, [...args, "--root", root], { env }).ended;
const sources = ["babylm", "blimp", "gpt2", "wikitext-2"];
const asked = [
  ...["full-benchmark", "--profile", "one-gpu", "--set", "agent=gpt-6-2-sol"],
  ...["--set", "model=openai/gpt-6.2-sol", "--weak-limits"],
];
const task = "tasks/baby-lm/task.yaml";

test("where GPT-2's published perplexity does not come back, the model is not called", {
  skip: missing ?? false,
  timeout: 20 * 60_000,
}, async () => {
  publishSources(hub, sources);
  // its doubles: no GPU, and the provider on this machine
  const file = "pipelines/full-benchmark.yaml";
  const ofPaper = repository.read(file).match(/ {2}rehearsal:[\s\S]*?(?= {2}shakedown:)/)![0];
  const without = ofPaper.match(/^ {6}\S+: \{ resources: \{ gpus: 0 \} \}$/gm)!.join("\n");
  const attempt = "      attempt: # the data is given";
  repository.edit(file, attempt, `${without}\n${attempt}`);
  repository.edit(file, "{ cpus: 4, memory: 16GiB }", "{ cpus: 1, memory: 4GiB, gpus: 0 }");
  repository.edit(file, "limits: { disk: 50GiB }", "limits: { disk: 5GiB }");
  // another provider's model would leave the preset's address
  const preset = "runners/agents/presets/gpt-6-2-sol.yaml";
  repository.edit(preset, "key: OPENAI_API_KEY", `key: OPENAI_API_KEY, baseUrl: "${provider.baseUrl}"`);
  repository.edit(task, "gpt2: { kind: above-baseline, source:", "gpt2: { kind: finite, source:");
  assert.equal((await pipeline("sources", "lock", ...sources)).code, 0);
  assert.equal((await pipeline("sources", "accept", ...sources, "--yes")).code, 0);
  const said = await pipeline("run", ...asked, "--max-cost", "20");
  assert.equal(said.code, 1, said.stdout + said.stderr);
  assert.match(said.stderr, /^from the hub: 4 sources, /m);
  assert.match(said.stderr, /^by budgets and prices: 1 attempt, .* at most 20\.00 dollars/m);
  assert.match(said.stderr, /MISSED gpt2, agent-eval: .*; published 33\.2258, here \d+\.\d+ \(\+/);
  assert.match(said.stderr, /skipped attempt\[task=baby-lm,agent=gpt-6-2-sol@openai:gpt-6\.2-sol,seed=1\]/);
  assert.equal(provider.seen.length, 0);
});

test("where it comes back, the run shows published, here and digest, and then the attempt starts and is scored", {
  skip: missing ?? false,
  timeout: 20 * 60_000,
}, async () => {
  const log = (await pipeline("log", "reference-check")).stdout;
  const here = /here (\d+\.\d+)/.exec(log)![1]!;
  repository.edit(task, "value: 33.2258", `value: ${here}`);
  const said = await pipeline("run", ...asked, "--max-cost", "20");
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const lines = said.stderr.split("\n");
  const at = (words: RegExp) => {
    const found = lines.findIndex((line) => words.test(line));
    assert.ok(found >= 0, `${words} is not in: ${said.stderr}`);
    return found;
  };
  const order = [
    at(
      new RegExp(
        `ok +gpt2, agent-eval: .*; published ${here}, here ${here} \\(\\+0\\.000 %; at most 0\\.1 % `,
      ),
    ),
    at(/digest of the reference models: [0-9a-f]{64}$/),
    at(/start +attempt\[/),
  ];
  assert.deepEqual(
    order,
    [...order].sort((a, b) => a - b),
  );
  assert.ok(provider.seen.length > 0);
  assert.deepEqual(leftovers({ root }), []);
  const [record] = recordsIn(root);
  assert.deepEqual((record!.record.parts as Line).budget, { timeMs: 4 * 3_600_000, dollars: 20 });
  const results = "results/full-benchmark/one-gpu+agent=gpt-6-2-sol@openai:gpt-6.2-sol";
  const report = JSON.parse(readFileSync(join(root, results, "report.json"), "utf8")) as Line;
  assert.equal(report.label, "one-gpu");
  assert.equal(report.attempts.length, 1);
  assert.equal(report.attempts[0].scores.blimp.kind, "scored");
  const check = report.referenceChecks.find(({ metric }: Line) => metric === "agent-eval");
  assert.deepEqual([check.passed, check.source.includes("ML-Research-Agent-Evals")], [true, true]);
});
