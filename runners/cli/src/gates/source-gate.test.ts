import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { memorySources, repository } from "@mlrb/core/testing/memory-sources";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import type { LockedSource } from "@mlrb/formats/declared/source-lock";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import type { DeclaredSource } from "../sources/declared-sources.ts";
import { sourcesAccept } from "../sources/sources-accept.ts";
import { sourcesLock } from "../sources/sources-lock.ts";
import { sourceLab } from "../testing/source-lab.ts";
import { refusals } from "./check.ts";
import { downloadWords, sourceGate, toDownload } from "./source-gate.ts";

const pipeline = `formatVersion: 1
name: test
axes: { task: [reading], source: { of: task, field: "downloads.{params.data}" } }
profiles:
  official: { default: true, params: { data: official } }
  smoke: { params: { data: smoke } }
stages:
  fetch: { each: [task, source], keyed: [source], script: steps/a.ts, hub: true }
  count: { each: [task], script: steps/b.ts }
`;
const source = (name: string) =>
  `formatVersion: 1\nname: ${name}\ntitle: ${name}\nrepository: org/${name}\ntype: dataset\nuse: data\n`;
const task = `${repository["tasks/reading/task.yaml"]}downloads: { smoke: [], official: [pairs, texts] }\n`;
const sources = memorySources({
  ...repository,
  "pipelines/test.yaml": pipeline,
  "tasks/reading/task.yaml": task,
  "sources/texts.yaml": source("texts"),
  "sources/pairs.yaml": source("pairs"),
});

function planned(profile: string) {
  const result = loadPlan({ file: "pipelines/test.yaml", profile }, sources, ["local"]);
  if ("problems" in result) throw new Error(result.problems.map(renderDiagnostic).join("\n"));
  const { plan } = result;
  return { plan, selected: plan.instances.map(({ index }) => index), inProfile: planned };
}

const request = planned("official");
type Env = NodeJS.ProcessEnv;

function checks(
  repository: string,
  { plan = request.plan, env = {} as Env, freeBytes = undefined as number | undefined },
) {
  const host = { env, ...(freeBytes !== undefined && { freeBytes }) };
  const at = { state: `${repository}/.mlrb`, sources: sourceFiles(repository), host };
  return sourceGate({ ...request, ...at, plan, starts: plan.instances });
}

const GiB = 2 ** 30;
const options = { json: false, update: false, yes: true };

/** Two sources on a hub, declared and not locked. */
async function twoSources(t: TestContext) {
  const lab = await sourceLab(t);
  for (const name of ["texts", "pairs"]) {
    lab.declare(name, `org/${name}`);
    lab.hub.commit("dataset", `org/${name}`, { "a.parquet": name }, { license: "mit" });
  }
  return lab;
}

test("a run is refused for sources that are not locked, then for licences that no person accepted", async (t) => {
  const lab = await twoSources(t);
  const words = () => refusals(checks(lab.repository, {})).map(renderDiagnostic);
  await lab.say(() => sourcesLock(lab.repository, ["texts"], options));
  assert.deepEqual(words(), [
    `unresolved-source: pairs: the commit and the files are not locked in sources.lock.yaml, so nothing says what would be downloaded
  help: \`pnpm pipeline sources lock pairs\` resolves them, on a machine that reaches the hub; without downloads: --profile smoke`,
    `not-accepted: texts: no person accepted the licence here
  help: \`pnpm pipeline sources accept texts\` shows licences and terms, and records that you accept them`,
  ]);
  await lab.say(() => sourcesLock(lab.repository, [], options));
  await lab.say(() => sourcesAccept(lab.repository, [], options));
  assert.deepEqual(words(), []);
  lab.declare("pairs", "org/other");
  assert.match(words().join(), /unresolved-source: pairs/);
});

test("a plan without downloads asks for nothing", () => {
  const starts = planned("smoke").plan.instances;
  assert.deepEqual(toDownload(starts, sources), { sources: [] });
  assert.deepEqual(sourceGate({ ...request, sources, state: "", starts, host: { env: {} } }), []);
});

test("a disk that has no room for the copies is noted", async (t) => {
  const { repository, say } = await twoSources(t);
  await say(() => sourcesLock(repository, [], options));
  await say(() => sourcesAccept(repository, [], options));
  const answers = (freeBytes: number) =>
    checks(repository, { freeBytes }).map(({ name, answer }) => [name, answer]);
  assert.deepEqual(answers(GiB), [["downloads", "works"]]);
  assert.deepEqual(answers(20), [["downloads", "note"]]); // 10 bytes, three times
});

test("a download in a container is refused while a proxy's variable holds a password", async (t) => {
  const lab = await twoSources(t);
  await lab.say(() => sourcesLock(lab.repository, [], options));
  await lab.say(() => sourcesAccept(lab.repository, [], options));
  const codes = (executor: string, https_proxy: string) => {
    const { plan } = planned("official");
    for (const { execution } of plan.instances) execution.executor = executor;
    return checks(lab.repository, { plan, env: { https_proxy } }).map(({ code }) => code);
  };
  const secret = "http://me:hunter2@proxy.example:8080";
  assert.deepEqual(codes("docker", secret), ["shown-password"]);
  assert.deepEqual(codes("local", secret), []);
  assert.deepEqual(codes("docker", "http://proxy.example:8080"), []);
});

function declared(name: string, sizes: { seen?: number; locked?: number }): DeclaredSource {
  const about = { repository: `org/${name}`, type: "dataset" } as const;
  const entry: LockedSource = {
    ...about,
    revision: "a".repeat(40),
    licence: "mit",
    gated: "none",
    patterns: [],
    files: [{ path: "a", size: sizes.locked ?? 0, sha256: "a".repeat(64) }],
  };
  const seen = sizes.seen === undefined ? {} : { seen: { bytes: sizes.seen } };
  return {
    manifest: { formatVersion: 1, name, title: name, use: "data", ...about, ...seen },
    place: { file: `sources/${name}.yaml`, line: 1, column: 1, excerpt: "", length: 1 },
    state: sizes.locked === undefined ? { kind: "unresolved" } : { kind: "resolved", entry },
    usedBy: [],
  };
}

test("sizes are approximate until every source is locked, and unknown ones are counted", () => {
  const [texts, pairs, odd] = [
    declared("texts", { seen: 2 * GiB }),
    declared("pairs", { locked: GiB }),
    declared("odd", {}),
  ];
  assert.equal(downloadWords([texts, pairs, odd]), "3 sources, about 3.0 GiB, 1 of unknown size");
  assert.equal(downloadWords([pairs]), "1 source, 1.0 GiB");
  assert.equal(downloadWords([odd]), "1 source, 1 of unknown size");
});
