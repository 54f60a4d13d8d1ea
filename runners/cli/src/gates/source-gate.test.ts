import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { memorySources, repository } from "@mlrb/core/testing/memory-sources";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import { sourcesAccept } from "../sources/sources-accept.ts";
import { sourcesLock } from "../sources/sources-lock.ts";
import { sourceLab } from "../testing/source-lab.ts";
import type { Gate } from "./gate.ts";
import { sourceProblems, toDownload } from "./source-gate.ts";

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
const previews = (action: "run" | "reuse") =>
  request.selected.map((index) => ({ index, action, onStale: "leave" as const }));

const options = { json: false, update: false, yes: true };

/** Two sources on a hub, declared and not locked. */
async function twoSources(t: TestContext) {
  const lab = await sourceLab(t);
  const gate = {
    workspace: { repository: lab.repository, state: { state: `${lab.repository}/.mlrb` } },
  } as Gate;
  for (const name of ["texts", "pairs"]) {
    lab.declare(name, `org/${name}`);
    lab.hub.commit("dataset", `org/${name}`, { "a.parquet": name }, { license: "mit" });
  }
  return { lab, gate };
}

test("a run is refused for sources that are not locked, then for licences that no person accepted", async (t) => {
  const { lab, gate } = await twoSources(t);
  const words = () => sourceProblems(request, previews("run"), gate).map(renderDiagnostic);
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

test("downloads that are reused need neither lock nor consent, and a profile without downloads asks for nothing", async (t) => {
  const lab = await sourceLab(t);
  const gate = { workspace: { repository: lab.repository, state: { state: lab.repository } } } as Gate;
  assert.deepEqual(sourceProblems(request, previews("reuse"), gate), []);
  const smoke = planned("smoke");
  const all = smoke.selected.map((index) => ({ index, action: "run" as const, onStale: "leave" as const }));
  assert.deepEqual(toDownload(smoke, all, lab.repository), { sources: [] });
});

test("a download in a container is refused while a proxy's variable holds a password", async (t) => {
  const { lab, gate } = await twoSources(t);
  await lab.say(() => sourcesLock(lab.repository, [], options));
  await lab.say(() => sourcesAccept(lab.repository, [], options));
  const before = process.env.https_proxy;
  t.after(() => {
    if (before === undefined) delete process.env.https_proxy;
    else process.env.https_proxy = before;
  });
  const codes = (executor: string) => {
    const { plan } = planned("official");
    for (const { execution } of plan.instances) execution.executor = executor;
    return sourceProblems({ ...request, plan }, previews("run"), gate).map(({ code }) => code);
  };
  process.env.https_proxy = "http://me:hunter2@proxy.example:8080";
  assert.deepEqual(codes("docker"), ["shown-password"]);
  assert.deepEqual(codes("local"), []);
  process.env.https_proxy = "http://proxy.example:8080";
  assert.deepEqual(codes("docker"), []);
});
