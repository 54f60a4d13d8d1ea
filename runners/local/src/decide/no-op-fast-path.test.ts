// A source that was only touched is compared by content. Everything else that differs is decided by planning.
import assert from "node:assert/strict";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { FileDigests } from "../digests/file-digest-memory.ts";
import { stateFolder } from "../store/state-folder.ts";
import { Consulted, runnerSources } from "./consulted-files.ts";
import { rememberUnchanged, saidUnchanged } from "./no-op-fast-path.ts";

/** A repository with two sources, and what a run that read them remembered. */
function repositoryOf(t: TestContext) {
  const repository = mkdtempSync(join(tmpdir(), "mlrb-fast-path-"));
  t.after(() => rmSync(repository, { recursive: true, force: true }));
  const at = { repository, root: repository, request: ["run"] };
  const [source, folder] = [join(repository, "a.txt"), join(repository, "folder")];
  writeFileSync(source, "first");
  mkdirSync(folder);
  writeFileSync(join(folder, "b.txt"), "second");
  const state = stateFolder(repository);
  mkdirSync(state.work, { recursive: true });
  const record = join(state.state, "record.json");
  writeFileSync(record, "{}");
  const consulted = new Consulted(repository);
  consulted.file("a.txt");
  consulted.file("missing.txt");
  consulted.kind("folder");
  consulted.pattern("folder/*.txt");
  consulted.fresh = false; // every file of this test is new
  const files = new FileDigests(repository, state.memory, consulted);
  rememberUnchanged(at, { consulted, more: [record], files, isCurrent: () => true, said: { table: 1 } });
  return {
    source,
    folder,
    record,
    said: () => saidUnchanged<{ table: number }>(at),
    held: () => {
      const [name] = readdirSync(join(state.memory, "unchanged"));
      return JSON.parse(readFileSync(join(state.memory, "unchanged", name!), "utf8"));
    },
  };
}

const earlier = new Date(Date.now() - 3600_000);

test("sources that were touched, or replaced by the same bytes, change nothing", (t) => {
  const at = repositoryOf(t);
  assert.deepEqual(at.said(), { table: 1 });
  utimesSync(at.source, earlier, earlier);
  utimesSync(join(at.folder, "b.txt"), earlier, earlier);
  assert.deepEqual(at.said(), { table: 1 });
  copyFileSync(at.source, `${at.source}.new`);
  renameSync(`${at.source}.new`, at.source);
  assert.deepEqual(at.said(), { table: 1 });
});

test("the stats of touched sources are remembered once they can be trusted", async (t) => {
  const at = repositoryOf(t);
  const before = at.held().stats["a.txt"];
  utimesSync(at.source, earlier, earlier);
  assert.deepEqual(at.said(), { table: 1 });
  assert.equal(at.held().stats["a.txt"], before, "a file changed within the last second");
  await new Promise((resolve) => setTimeout(resolve, 1050));
  assert.deepEqual(at.said(), { table: 1 });
  const after = at.held().stats["a.txt"];
  assert.notEqual(after, before);
  writeFileSync(at.source, "other"); // as long as before
  utimesSync(at.source, earlier, earlier);
  assert.equal(at.said(), undefined);
});

const changes: Record<string, (at: ReturnType<typeof repositoryOf>) => void> = {
  "other bytes of the same length": ({ source }) => writeFileSync(source, "fir5t"),
  "another length": ({ source }) => writeFileSync(source, "firsts"),
  "another mode": ({ source }) => chmodSync(source, 0o755),
  "a removed source": ({ source }) => rmSync(source),
  "a link to the same bytes": ({ source }) => {
    renameSync(source, `${source}.real`);
    symlinkSync(`${source}.real`, source);
  },
  "a folder in its place": ({ source }) => {
    rmSync(source);
    mkdirSync(source);
  },
  "a source that was missing": ({ source }) => writeFileSync(source.replace("a.txt", "missing.txt"), ""),
  "one more file of a pattern": ({ folder }) => writeFileSync(join(folder, "c.txt"), ""),
  "a file in place of a folder": ({ folder }) => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "");
  },
  "a file of the state, even by its time": ({ record }) => utimesSync(record, earlier, earlier),
};

for (const [what, change] of Object.entries(changes))
  test(`planned again after ${what}`, (t) => {
    const at = repositoryOf(t);
    change(at);
    assert.equal(at.said(), undefined);
  });

test("what a runner loads is listed without its tests, and an edit of it is planned again", (t) => {
  const repository = mkdtempSync(join(tmpdir(), "mlrb-fast-path-"));
  t.after(() => rmSync(repository, { recursive: true, force: true }));
  const source = join(repository, "runners/core/src");
  mkdirSync(join(source, "deep"), { recursive: true });
  const names = ["a.ts", "a.test.ts", "deep/b.py", "deep/test_b.py", "deep/c.json", "d.mjs", "e.md"];
  for (const name of names) writeFileSync(join(source, name), "");
  const consulted = new Consulted(repository);
  const listed = consulted.pattern(runnerSources);
  assert.deepEqual(
    listed,
    ["a.ts", "d.mjs", "deep/b.py", "deep/c.json"].map((name) => `runners/core/src/${name}`),
  );
  consulted.fresh = false;
  writeFileSync(join(source, "a.ts"), "edited during the run");
  const state = stateFolder(repository);
  mkdirSync(state.work, { recursive: true });
  const at = { repository, root: repository, request: ["run"] };
  const files = new FileDigests(repository, state.memory, consulted);
  rememberUnchanged(at, { consulted, more: [], files, isCurrent: () => true, said: {} });
  assert.equal(saidUnchanged(at), undefined);
});

test("a source that changed after it was read has no digest", (t) => {
  const repository = mkdtempSync(join(tmpdir(), "mlrb-fast-path-"));
  t.after(() => rmSync(repository, { recursive: true, force: true }));
  writeFileSync(join(repository, "a.txt"), "read");
  const consulted = new Consulted(repository);
  consulted.file("a.txt");
  consulted.fresh = false;
  writeFileSync(join(repository, "a.txt"), "edited during the run");
  const files = new FileDigests(repository, join(repository, "memory"), consulted);
  assert.deepEqual(files.ofSeen(Object.fromEntries(consulted.files)), {});
});
