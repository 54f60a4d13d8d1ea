import assert from "node:assert/strict";
import { test } from "node:test";
import type { SourceManifest } from "@mlrb/formats/declared/source";
import type { LockedSource, SourceLock } from "@mlrb/formats/declared/source-lock";
import { loadPlan } from "../plan/load-plan.ts";
import { memorySources, repository } from "../testing/memory-sources.ts";
import { sourceBytes } from "./source-bytes.ts";
import { lockState } from "./source-lock.ts";

const declared: SourceManifest = {
  formatVersion: 1,
  name: "texts",
  title: "Texts",
  repository: "org/texts",
  type: "dataset",
  use: "data",
  seen: { bytes: 1000 },
};
const commit = "0123456789".repeat(4);
const entry: LockedSource = {
  repository: "org/texts",
  type: "dataset",
  revision: commit,
  licence: "mit",
  gated: "none",
  patterns: [],
  files: [
    { path: "a.parquet", size: 3, sha256: "a".repeat(64) },
    { path: "b.parquet", size: 4, sha256: "b".repeat(64) },
  ],
};
const lockOf = (texts: SourceLock["sources"][string]): SourceLock => ({
  formatVersion: 1,
  sources: { texts },
});
const locked = lockOf({ kind: "resolved", ...entry });

test("a source is resolved only while repository, type, commit and patterns are those that were locked", () => {
  const kindOf = (more: Partial<SourceManifest>) => lockState({ ...declared, ...more }, locked).kind;
  assert.equal(kindOf({}), "resolved");
  assert.equal(kindOf({ revision: commit.slice(0, 7) }), "resolved");
  assert.equal(kindOf({ revision: "7654321" }), "outdated");
  assert.equal(kindOf({ repository: "org/other" }), "outdated");
  assert.equal(kindOf({ type: "model" }), "outdated");
  assert.equal(kindOf({ files: ["*.parquet"] }), "outdated");
  assert.equal(kindOf({ name: "constructor" }), "unresolved");
  assert.equal(lockState(declared, undefined).kind, "unresolved");
  assert.equal(lockState(declared, lockOf({ kind: "unresolved" })).kind, "unresolved");
});

test("the size is that of the locked files, and before that the one that is believed", () => {
  assert.equal(sourceBytes(declared, lockState(declared, locked)), 7);
  assert.equal(sourceBytes(declared, lockState(declared, undefined)), 1000);
  const { seen: _, ...unseen } = declared;
  assert.equal(sourceBytes(unseen, { kind: "unresolved" }), undefined);
});

const pipeline = `formatVersion: 1
name: test
axes: { task: [reading, writing], source: { of: task, field: "downloads.{params.data}" } }
profiles:
  smoke: { default: true, params: { data: smoke } }
  official: { params: { data: official } }
stages:
  fetch:
    each: [task, source]
    keyed: [source]
    script: steps/a.ts
    params: { repository: "{source.repository}", locked: "{source.locked}" }
`;
const task = repository["tasks/reading/task.yaml"]!;
const downloads = "downloads: { smoke: [], official: [texts] }\n";

function planned(profile: string, lock: SourceLock | undefined) {
  const { formatVersion, name, title, type, use } = declared;
  const manifest = { formatVersion, name, title, repository: "org/texts", type, use };
  const sources = memorySources({
    ...repository,
    "pipelines/test.yaml": pipeline,
    "tasks/reading/task.yaml": task + downloads,
    "sources/texts.yaml": JSON.stringify(manifest),
    ...(lock && { "sources.lock.yaml": JSON.stringify(lock) }),
  });
  const result = loadPlan({ file: "pipelines/test.yaml", profile }, sources, ["local"]);
  if ("problems" in result) throw new Error(JSON.stringify(result.problems));
  return result.plan.instances.map(({ id, action }) => ({ id, locked: action.params.locked }));
}

test("a stage over the sources of a task has no instance where the task downloads nothing", () => {
  assert.deepEqual(planned("smoke", locked), []);
  const ids = planned("official", locked).map(({ id }) => id);
  assert.deepEqual(ids, ["fetch[task=reading,source=texts]"], "the task writing leaves `downloads` out");
});

test("the entry of the lock is a parameter, and null until the source is resolved", () => {
  assert.deepEqual(planned("official", locked)[0]!.locked, entry);
  assert.equal(planned("official", lockOf({ kind: "unresolved" }))[0]!.locked, null);
  assert.equal(planned("official", undefined)[0]!.locked, null);
});
