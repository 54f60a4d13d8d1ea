// The pipeline deep-checks and `doctor --models --max-cost`, through the program: one task of the profile
// `rehearsal`, with doubles of the hub and of the provider. What a lab learns in minutes before it pays; nothing
// becomes an attempt.
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
import { type ProgramOutput, startProgram } from "./support/run-program.ts";
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

/** Of one task, which has no models to load: the check of models is tested next to its script. */
const sources = ["math-reasoning", "math-reasoning-test", "wikitext-2"];
const env = { ...indexVariables(), HF_ENDPOINT: hub.endpoint, OPENAI_API_KEY: LOOPBACK_KEY };
const pipeline = (args: string[], more: Record<string, string> = {}) =>
  startProgram(repository.path, [...args, "--root", root], { env: { ...env, ...more } }).ended;
const asked = ["--profile", "rehearsal", "--set", "task=math-reasoning"];
const deep = (more: string[] = [], variables: Record<string, string> = {}) =>
  pipeline(
    ["run", "deep-checks", ...asked, "--only", "check-*", "--weak-limits", "--json", ...more],
    variables,
  );
const models = (...more: string[]) => pipeline(["doctor", ...asked, "--models", "--json", ...more]);

/** The outcome of each check, by the stage's name. */
function outcomes(said: ProgramOutput): Record<string, string> {
  const ends = said.lines.filter(({ event, stage }) => event === "stage" && stage.startsWith("check-"));
  return Object.fromEntries(ends.map(({ stage, outcome }) => [stage.split("[")[0], outcome]));
}

/** What a check found or why it failed: the end of its log. */
async function logOf(stage: string): Promise<string> {
  return (await pipeline(["log", stage])).stdout;
}

test("no model is asked for a tool call before a person agrees to the cost, and one without tools is missing", async () => {
  const commits = publishSources(hub, sources);
  for (const source of sources) {
    const file = `sources/${source}.yaml`;
    const { revision } = parse(repository.read(file)) as { revision?: string };
    if (revision !== undefined) repository.edit(file, `"${revision}"`, `"${commits[source]}"`);
  }
  hub.commit("model", "microsoft/phi-2", { "config.json": "{}" }, { license: "mit" });
  repository.edit("pipelines/deep-checks.yaml", "https://huggingface.co", hub.endpoint);
  const preset = "runners/agents/presets/gpt-4o.yaml";
  repository.edit(preset, "key: OPENAI_API_KEY", `key: OPENAI_API_KEY, baseUrl: "${provider.baseUrl}"`);
  const refused = await models("--max-cost", "0");
  assert.equal(refused.code, 2, refused.stdout);
  assert.match(
    refused.stdout,
    /over-cost.*This asks 1 model for a tool call, for at most 0\.\d\d dollars; the limit is 0 dollars\..*pass --yes, or raise --max-cost/,
  );
  assert.equal(provider.seen.length, 0);
  const model = async (...more: string[]) => {
    const { lines } = await models(...more);
    const { checks } = lines.find(({ event }) => event === "profile")!;
    return checks.find(({ name }: { name: string }) => name === "model of gpt-4o");
  };
  const without = await model("--max-cost", "1");
  assert.equal(without.answer, "missing");
  assert.match(without.found, /gpt-4o-2024-08-06: .* dollars; it was asked to call a tool and did not/);
  assert.match(without.help, /that call tools/);
  callsTools = true;
  const found = await model("--yes");
  assert.equal(found.answer, "works");
  assert.match(found.found, /tokens, 0\.\d{4} dollars; it called a tool$/);
});

test("a source that is not locked or not accepted starts nothing, and a broken sandbox fails its checks alone", async () => {
  const open = await deep();
  assert.equal(open.code, 2, open.stderr);
  assert.match(open.stdout, /unresolved-source/);
  const locked = await pipeline(["sources", "lock", ...sources, "phi-2"]);
  assert.equal(locked.code, 0, locked.stderr);
  assert.match((await deep()).stdout, /not-accepted/);
  const accepted = await pipeline(["sources", "accept", ...sources, "phi-2", "--yes"]);
  assert.equal(accepted.code, 0, accepted.stderr);
  const bin = join(root, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "bwrap"), brokenBubblewrap);
  chmodSync(join(bin, "bwrap"), 0o755);
  const said = await deep([], { PATH: `${bin}:${process.env.PATH}` });
  assert.equal(said.code, 1, said.stderr);
  const of = outcomes(said);
  for (const check of ["check-gpu", "check-snapshot", "check-network"]) {
    assert.equal(of[check], "failed", check);
    assert.match(await logOf(check), /no sandbox to run it in/);
  }
  assert.equal(of["check-hub"], "succeeded");
  assert.match(await logOf("check-hub"), /bytes from the hub, SHA-256 as locked\n$/);
});

test("on a host that can do everything each check passes, also of the gateway of sealed attempts, and nothing becomes an attempt", {
  skip: missing ?? false,
}, async () => {
  const attempt = "attempt: { resources: { cpus: 1, memory: 4GiB, gpus: 0 }";
  repository.edit("pipelines/full-benchmark.yaml", attempt, attempt.replace("{", "{ network: hub,"));
  const before = hub.requests.length;
  const said = await deep(["--set", "try=2"]);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.deepEqual(new Set(Object.values(outcomes(said))), new Set(["succeeded"]));
  assert.match(
    await logOf("check-gpu"),
    /training on cpu, since the profile plans no GPU: \d+ tokens\/s; .* \(bubblewrap\)\n$/,
  );
  assert.match(await logOf("check-snapshot"), /a snapshot of 256 MiB in .* its bytes verified; /);
  assert.match(
    await logOf("check-network"),
    /microsoft\/phi-2\/\S+ came through the gateway as locked, and not \S+_test \(bubblewrap\)\n$/,
  );
  assert.ok(hub.requests.slice(before).some(({ path }) => path.includes("math_reasoning")));
  assert.deepEqual(leftovers({ root }), []);
  const records = join(root, ".mlrb/attempts/records");
  assert.deepEqual(existsSync(records) ? readdirSync(records) : [], []);
});

test("with a full network a program in the sandbox downloads a file itself", {
  skip: missing ?? false,
}, async () => {
  repository.edit("pipelines/full-benchmark.yaml", "attempt: { network: hub, ", "attempt: { ");
  const said = await deep(["--set", "try=3", "--only", "check-network"]);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.match(
    await logOf("check-network"),
    /microsoft\/phi-2\/\S+ came from http:\S+ as locked, over the full network \(bubblewrap\)\n$/,
  );
});
