// Official sources from the lock to the store, with a hub on this machine: refused until they are locked and
// accepted, downloaded once for all tasks, and never again.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { parquetWriteBuffer } from "hyparquet-writer";
import { ensureEnvironment } from "../scripts/ensure-environment.ts";
import { shareEnvironments } from "./support/environments.ts";
import { startProgram } from "./support/run-program.ts";
import { LoopbackHub } from "./support/servers/loopback-hub.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const root = mkdtempSync(join(tmpdir(), "mlrb-downloads-"));
const hub = await new LoopbackHub().start();
after(() => {
  hub.close();
  repository.remove();
  removeFolder(root);
});
shareEnvironments(root);
repository.write(
  "pipelines/official.yaml",
  `formatVersion: 1
name: official
extends: full-benchmark
axes: { task: [llm-merging, llm-efficiency], agent: [script-weak], seed: [1] }
profiles: { official: { extends: rehearsal, axes: { agent: [script-weak] } } }
stages:
  look: # what agents would get
    each: [task]
    needs: [data.public]
    command: [sh, -c, "cd '{inputs.public}' && find . -type f | tee '{outputs.seen}'"]
    gives: { seen: file }
`,
);

/** A file of questions. Files of equal content have one address on the hub. */
function parquet(questions: string[]): Buffer {
  return Buffer.from(parquetWriteBuffer({ columnData: [{ name: "question", data: questions }] }));
}

function subjects(question: string): Record<string, Buffer> {
  const names = Array.from({ length: 57 }, (_, at) => `s${at}`);
  return Object.fromEntries(
    names.map((name) => [`${name}/test-0.parquet`, parquet([`${name}: ${question}`])]),
  );
}

const say = (...args: string[]) =>
  startProgram(repository.path, [...args, "--root", root], { env: { HF_ENDPOINT: hub.endpoint } }).ended;
const asked = ["official", "--profile", "official", "--only", "download"];

test("a run that downloads is refused until each source is locked and its licence accepted, and plan says so", async () => {
  const early = await say("run", ...asked);
  assert.equal(early.code, 2);
  assert.match(
    early.stderr,
    /unresolved-source: llm-merging, mistral-7b, mmlu, wikitext-2: the commit and the files are not locked[\s\S]*help: `pnpm pipeline sources lock llm-merging mistral-7b mmlu wikitext-2` resolves them/,
  );
  const merging = hub.commit("dataset", "AlgorithmicResearchGroup/llm_merging", {
    "a.parquet": parquet(["a"]),
  });
  repository.edit("sources/llm-merging.yaml", '"db25298"', `"${merging.commits[0]!.sha.slice(0, 7)}"`);
  hub.commit("dataset", "cais/mmlu", subjects("Why?"), { license: "mit" });
  hub.commit("model", "mistralai/Mistral-7B-v0.1", { "config.json": "{}" });
  hub.commit("dataset", "Salesforce/wikitext", { "wikitext-2-raw-v1/test-0.parquet": parquet(["Text."]) });
  assert.equal((await say("sources", "lock", "llm-merging", "mmlu", "mistral-7b", "wikitext-2")).code, 0);
  const locked = await say("run", ...asked);
  assert.equal(locked.code, 2);
  assert.match(
    locked.stderr,
    /not-accepted: llm-merging, mistral-7b, mmlu, wikitext-2: .*[\s\S]*`pnpm pipeline sources accept llm-merging mistral-7b mmlu wikitext-2`/,
  );
  const planned = await say("plan", ...asked);
  assert.match(
    planned.stdout,
    /a run would be refused: llm-merging, mistral-7b, mmlu, wikitext-2: no person accepted the licence here/,
  );
  assert.equal(hub.requests.filter(({ path }) => path.startsWith("/lfs/")).length, 0);
});

test("an accepted source is downloaded once for all tasks, and a lock that moves downloads only its own source again", async () => {
  const accepted = await say("sources", "accept", "--yes");
  assert.equal(accepted.code, 0, accepted.stderr);
  hub.requests.length = 0;
  const first = await say("run", ...asked, "--json");
  assert.equal(first.code, 0, first.stderr);
  const stored = () =>
    hub.requests.filter(({ path, method }) => path.startsWith("/lfs/") && method === "GET");
  assert.equal(stored().length, 1 + 57 + 1, "two tasks use mmlu and wikitext-2");
  hub.requests.length = 0;
  const again = await say("run", ...asked, "--json");
  assert.deepEqual([again.code, again.lines.at(-1)!.outcomes.succeeded, hub.requests.length], [0, 0, 0]);
  hub.commit(
    "dataset",
    "cais/mmlu",
    { ...subjects("Why?"), "s0/test-0.parquet": parquet(["How?"]) },
    { license: "mit" },
  );
  await say("sources", "lock", "mmlu", "--update");
  await say("sources", "accept", "--yes");
  hub.requests.length = 0;
  const moved = await say("run", ...asked, "--json");
  assert.equal(moved.code, 0, moved.stderr);
  assert.deepEqual(
    moved.lines
      .filter(({ event, outcome }) => event === "stage" && outcome === "succeeded")
      .map(({ stage }) => stage),
    ["download[task=llm-merging,source=mmlu]"],
  );
  assert.equal(stored().length, 57);
});

test("official data is made of the downloads, and agents get no file of the evaluation set", async () => {
  const said = await say("run", ...asked, "--only", "look", "--json");
  assert.equal(said.code, 0, said.stderr);
  const log = await say("log", "look[task=llm-merging]");
  assert.match(log.stdout + log.stderr, /AlgorithmicResearchGroup\/llm_merging\/a\.parquet/);
  assert.doesNotMatch(log.stdout, /mmlu|s0/);
});

// built before the run, which takes other leases than the tests that run at the same time
await ensureEnvironment("pipelines/environments/official-tasks.lock");

test("an attempt on official data gets the official prompt, our framing, the starter files and phi-2", async () => {
  repository.write(
    "pipelines/compress.yaml",
    `formatVersion: 1
name: compress
extends: full-benchmark
axes: { task: [edge-llm-compression], agent: [looker], seed: [1] }
profiles: { official: { extends: rehearsal, axes: { agent: [looker] } } }
`,
  );
  repository.write(
    "runners/agents/presets/looker.yaml",
    "formatVersion: 1\nname: looker\ntitle: Looker\nkind: command\ntrusted: true\nprogram: looker\ncommand: [sh, ./look.sh]\n",
  );
  repository.write("looker/look.sh", "find . -type f | sort; cat TASK.md models/base/weights.safetensors");
  hub.commit("model", "microsoft/phi-2", { "config.json": "{}", "weights.safetensors": "phi-2's weights" });
  await say("sources", "lock", "phi-2");
  await say("sources", "accept", "--yes");
  const run = ["run", "compress", "--profile", "official", "--only", "download", "--only", "attempt"];
  run.push("--skip-reference-models"); // no reference model is downloaded here
  const said = await say(...run, "--json");
  assert.equal(said.code, 0, said.stderr + said.stdout);
  const seen = lookerOutput();
  assert.match(seen, /\.\/edge_llm_compression\/README\.md\n/);
  assert.match(seen, /\.\/models\/base\/config\.json\n/);
  assert.match(
    seen,
    /\nYour task is to: [\s\S]* 12 GB DRAM[\s\S]*\nNone\n\n---\n\n# How this benchmark runs [\s\S]*You have 1 day, until/,
  );
  assert.match(seen, /phi-2's weights$/);
  assert.doesNotMatch(seen, /mmlu\/s0|SmolLM/);
});

function lookerOutput(): string {
  const records = readdirSync(join(root, ".mlrb/attempts"), { recursive: true, withFileTypes: true });
  const { parentPath, name } = records.find((entry) => entry.name === "trajectory.jsonl")!;
  return readFileSync(join(parentPath, name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === "output")
    .map(({ text }) => text)
    .join("");
}
