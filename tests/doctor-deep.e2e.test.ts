// `pipeline doctor --deep`, through the program: one task of the profile `rehearsal`, with doubles of the hub and of the
// provider. What a lab learns in minutes before it pays: each fault is one line, and nothing becomes an attempt.
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { parse } from "yaml";
import { tool } from "./support/attempts/llm-attempts.ts";
import { indexVariables } from "./support/demonstration/play.ts";
import { shareEnvironments } from "./support/environments.ts";
import { leftovers } from "./support/lab.ts";
import { LOOPBACK_KEY, startLoopbackProvider } from "./support/providers/loopback-provider.ts";
import { publishSources } from "./support/rehearsal/official-sources.ts";
import { type Line, type ProgramOutput, startProgram } from "./support/run-program.ts";
import { LoopbackHub } from "./support/servers/loopback-hub.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const missing = await bubblewrapMissing();
const brokenBubblewrap = `#!/bin/sh
case "$1" in --help | --version) exec /usr/bin/bwrap "$1" ;; esac
echo 'bwrap: No permissions to create new namespace' >&2
exit 1
`;
const repository = throwAwayRepository();
const root = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-deep-")));
const hub = await new LoopbackHub().start();
let callsTools = false;
const provider = await startLoopbackProvider({
  script: () => (callsTools ? tool("report", { word: "ready" }) : { text: "I have no tools." }),
});
after(async () => {
  hub.close();
  await provider.close();
  repository.remove();
  removeFolder(root);
});
shareEnvironments(root);

/** Of one task, whose models come with no weights here: lm-eval's own check is tested next to its script. */
const sources = ["math-reasoning", "math-reasoning-test"];
const others = ["phi-2", "mmlu", "wikitext-2"];
const env = { ...indexVariables(), HF_ENDPOINT: hub.endpoint, OPENAI_API_KEY: LOOPBACK_KEY };
const pipeline = (args: string[], more: Record<string, string> = {}) =>
  startProgram(repository.path, [...args, "--root", root], { env: { ...env, ...more } }).ended;
const asked = (...tasks: string[]) => ["full-benchmark", "--profile", "rehearsal", "--set", `task=${tasks}`];
const [math, compression] = ["math-reasoning", "edge-llm-compression"] as const;
const deep = (tasks: string[], more: string[], variables: Record<string, string> = {}) =>
  pipeline(["doctor", ...asked(...tasks), "--deep", "--weak-limits", "--json", ...more], variables);

function checksOf(said: ProgramOutput): Record<string, Line> {
  const lines = said.lines.filter(({ event }) => event === "deep-check");
  // a source of several tasks is checked once, in the name of the first
  return Object.fromEntries(
    lines.map((line) => [line.name.replace(/^(hub-file)\[task=[^,]+,/, "$1["), line]),
  );
}

/** The file, and the digest of the smallest file of a source there with a wrong one. */
let wrongDigest: [string, string, string] = ["sources.lock.yaml", "", ""];

const names = {
  model: "model of gpt-4o",
  gpu: "gpu-step[agent=gpt-4o,seed=1]",
  snapshot: "snapshot[agent=gpt-4o,seed=1]",
  network: "network[agent=gpt-4o,seed=1]",
  models: "lm-eval[task=edge-llm-compression]",
  file: (source: string) => `hub-file[source=${source}]`,
};

test("no model is asked before a person agrees to the cost", async () => {
  const commits = publishSources(hub, [...sources, "mmlu", "wikitext-2"]);
  for (const source of sources) {
    const file = `sources/${source}.yaml`;
    const { revision } = parse(repository.read(file)) as { revision?: string };
    if (revision !== undefined) repository.edit(file, `"${revision}"`, `"${commits[source]}"`);
  }
  hub.commit("model", "microsoft/phi-2", { "config.json": "{}" }, { license: "mit" });
  repository.edit("pipelines/deep-checks.yaml", "https://huggingface.co", hub.endpoint);
  const preset = "runners/agents/presets/gpt-4o.yaml";
  repository.edit(preset, "key: OPENAI_API_KEY", `key: OPENAI_API_KEY, baseUrl: "${provider.baseUrl}"`);
  const refused = await deep([math], []);
  assert.equal(refused.code, 2, refused.stdout);
  assert.match(
    refused.stderr,
    /over-cost: --deep asks 1 model for a tool call, for at most 0\.\d\d dollars; the limit is 0 dollars\.\n {2}help: pass --yes, or raise --max-cost/,
  );
  assert.equal(provider.seen.length, 0);
  const other = await pipeline(["doctor", "hello", "--deep", "--yes"]);
  assert.equal(other.code, 2);
  assert.match(
    other.stderr,
    /no-deep-checks: .* of full-benchmark, not of hello\n {2}help: type `pnpm pipeline doctor full-benchmark --deep`/,
  );
});

test("a model without tools, a wrong file, a missing sandbox and a missing download fail a line each", async () => {
  const locked = await pipeline(["sources", "lock", ...sources, ...others]);
  assert.equal(locked.code, 0, locked.stderr);
  const accepted = await pipeline(["sources", "accept", ...sources, "phi-2", "wikitext-2", "--yes"]);
  assert.equal(accepted.code, 0, accepted.stderr);
  const { files } = (parse(repository.read(wrongDigest[0])) as Line).sources["wikitext-2"];
  const [{ sha256 }] = (files as Line[]).toSorted((a, b) => a.size - b.size) as [Line];
  wrongDigest = ["sources.lock.yaml", sha256, "f".repeat(64)];
  const bin = join(root, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "bwrap"), brokenBubblewrap);
  chmodSync(join(bin, "bwrap"), 0o755);
  repository.edit(...wrongDigest);
  const said = await deep([math, compression], ["--max-cost", "1"], { PATH: `${bin}:${process.env.PATH}` });
  assert.equal(said.code, 1, said.stderr);
  const checks = checksOf(said);
  const failed = (name: string, cause: RegExp, help: RegExp) => {
    assert.equal(checks[name]?.kind, "failed", name);
    assert.match(checks[name]!.cause, cause);
    assert.match(checks[name]!.help, help);
  };
  failed(
    names.model,
    /gpt-4o-2024-08-06: .* dollars; it was asked to call a tool and did not/,
    /that call tools/,
  );
  failed(names.gpu, /no sandbox to run it in: bubblewrap cannot be used here/, /pnpm pipeline log/);
  failed(names.snapshot, /no sandbox to run it in/, /pnpm pipeline log/);
  failed(
    names.models,
    /^not downloaded: (phi-2|mmlu|wikitext-2)/,
    /^pnpm pipeline run full-benchmark .*--only download$/,
  );
  failed(names.file("wikitext-2"), /SHA-256 .* came, locked are/, /pnpm pipeline log/);
  failed(names.file("mmlu"), /no person accepted the licence/, /^pnpm pipeline sources accept mmlu$/);
  assert.match(
    checks[names.file("phi-2")]!.found,
    /^microsoft\/phi-2\/.* bytes from the hub, SHA-256 as locked$/,
  );
  failed(names.network, /no sandbox to run it in/, /pnpm pipeline log/);
  assert.equal(Object.keys(checks).length, 10);
});

test("on a host that can do everything each check passes, also of the gateway of sealed attempts, and nothing becomes an attempt", {
  skip: missing ?? false,
}, async () => {
  const [file, right, wrong] = wrongDigest;
  repository.edit(file, wrong, right);
  callsTools = true;
  const attempt = "attempt: { resources: { cpus: 1, memory: 4GiB, gpus: 0 }";
  repository.edit("pipelines/full-benchmark.yaml", attempt, attempt.replace("{", "{ network: hub,"));
  const got = await pipeline(["run", ...asked(math), "--only", "download"]);
  assert.equal(got.code, 0, got.stderr);
  const before = hub.requests.length;
  const said = await deep([math], ["--yes"]);
  const checks = checksOf(said);
  assert.equal(said.code, 0, JSON.stringify(checks, null, 1) + said.stderr);
  assert.ok(Object.values(checks).every(({ kind, ms }) => kind === "passed" && ms > 0));
  assert.match(checks[names.model]!.found, /tokens, 0\.\d{4} dollars; it called a tool$/);
  assert.match(
    checks[names.gpu]!.found,
    /^training on cpu, since the profile plans no GPU: \d+ tokens\/s; .* \(bubblewrap\)$/,
  );
  assert.match(checks[names.snapshot]!.found, /^a snapshot of 256 MiB in .* its bytes verified; /);
  assert.match(
    checks[names.network]!.found,
    /^microsoft\/phi-2\/\S+ came through the gateway as locked, and not \S+_test \(bubblewrap\)$/,
  );
  for (const source of sources) assert.match(checks[names.file(source)]!.found, /SHA-256 as locked$/);
  const fetched = new Set(hub.requests.slice(before).map(({ path }) => path.split("/resolve/")[0]));
  assert.ok(
    [...fetched].some((path) => path?.includes("math_reasoning")),
    "a file comes from the hub, though it was downloaded before",
  );
  assert.deepEqual(leftovers({ root }), []);
  const records = join(root, ".mlrb/attempts/records");
  assert.deepEqual(existsSync(records) ? readdirSync(records) : [], []);
});

test("with --executor all checks are sent there, and each says what is missing there", async () => {
  const said = await deep([math], ["--yes", "--executor", "docker"], { MLRB_CONTAINER_ENGINE: "no-engine" });
  assert.equal(said.code, 1, said.stderr);
  const { [names.model]: model, ...others } = checksOf(said);
  assert.equal(model!.kind, "passed", "a model is asked from here");
  for (const { name, cause, help } of Object.values(others)) {
    assert.match(cause, /^no container engine: /, name);
    assert.equal(help, "docs/docker.md sets one up");
  }
  for (const name of [names.gpu, names.snapshot, names.network, ...sources.map(names.file)])
    assert.ok(name in others, name);
});

test("without a hub the files of earlier downloads are enough, and a program in the sandbox downloads one itself", {
  skip: missing ?? false,
}, async () => {
  repository.edit("pipelines/full-benchmark.yaml", "attempt: { network: hub, ", "attempt: { ");
  const before = hub.requests.length;
  const said = await deep([math], ["--yes"], { HF_HUB_OFFLINE: "1" });
  const checks = checksOf(said);
  assert.equal(said.code, 0, JSON.stringify(checks, null, 1) + said.stderr);
  for (const source of sources)
    assert.match(
      checks[names.file(source)]!.found,
      /^downloaded before, its files are in the cache; HF_HUB_OFFLINE is set/,
    );
  const { found } = checks[names.network]!;
  assert.match(
    found,
    /^microsoft\/phi-2\/\S+ came from http:\S+ as locked, over the full network \(bubblewrap\)$/,
  );
  assert.deepEqual(
    hub.requests.slice(before).map(({ path }) => path.split("/resolve/")[0]),
    ["/microsoft/phi-2"],
    "only that program asked the hub",
  );
});
