import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sourceLab } from "../testing/source-lab.ts";
import { sourcesLock } from "./sources-lock.ts";
import { sourcesVerify } from "./sources-verify.ts";

const quiet = { json: false, update: false };

test("verify of an unchanged hub finds no difference", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("texts", "org/texts");
  lab.hub.commit("dataset", "org/texts", { "a.parquet": "one", "README.md": "text" });
  await lab.say(() => sourcesLock(lab.repository, [], quiet));
  const said = await lab.say(() => sourcesVerify(lab.repository, [], quiet));
  assert.deepEqual(said, {
    code: 0,
    stdout: "texts: as locked\n1 source as locked, 0 differ, 0 could not be compared\n",
    stderr: "",
  });
});

test("verify shows a moved branch, changed files and a changed licence, and writes nothing", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("texts", "org/texts");
  const files = { "a.parquet": "one", "b.parquet": "b", "README.md": "text" };
  const old = lab.hub.commit("dataset", "org/texts", files, { license: "mit" }).commits[0]!.sha;
  await lab.say(() => sourcesLock(lab.repository, [], quiet));
  const before = lab.lock();
  const moved = lab.hub.commit("dataset", "org/texts", {
    "a.parquet": "two",
    "README.md": "text",
    "c.txt": "c",
  });
  moved.gated = "auto";
  const said = await lab.say(() => sourcesVerify(lab.repository, [], quiet));
  assert.deepEqual(
    [said.code, said.stdout],
    [
      1,
      `texts:
  revision: ${old} is locked, the newest commit is ${moved.commits[0]!.sha}
  gated: none is locked, the hub has auto
  licence: mit is locked, the hub has none
  file changed: a.parquet, 3 bytes are locked, the hub has 3 others
  file removed: b.parquet
  file added: c.txt, 1 bytes
0 sources as locked, 1 differ, 0 could not be compared
`,
    ],
  );
  assert.equal(lab.lock(), before);
});

test("verify of a source whose manifest names a commit ignores newer commits, and a rewritten file is found", async (t) => {
  const lab = await sourceLab(t);
  const repository = lab.hub.commit("dataset", "org/texts", { "a.parquet": "one" });
  const [pinned] = repository.commits;
  lab.declare("texts", "org/texts", `type: dataset\nuse: data\nrevision: "${pinned!.sha.slice(0, 9)}"\n`);
  await lab.say(() => sourcesLock(lab.repository, [], quiet));
  lab.hub.commit("dataset", "org/texts", { "a.parquet": "two" });
  assert.equal((await lab.say(() => sourcesVerify(lab.repository, [], quiet))).code, 0);
  pinned!.files.get("a.parquet")!.content = Buffer.from("ore");
  const said = await lab.say(() => sourcesVerify(lab.repository, [], quiet));
  assert.match(said.stdout, /file changed: a\.parquet/);
  assert.equal(said.code, 1);
});

test("verify fails for a source that is not locked, has another repository now, or left the hub", async (t) => {
  const lab = await sourceLab(t);
  for (const name of ["gone", "moved", "new"]) {
    lab.declare(name, `org/${name}`);
    lab.hub.commit("dataset", `org/${name}`, { "a.parquet": name });
  }
  await lab.say(() => sourcesLock(lab.repository, ["gone", "moved"], quiet));
  lab.declare("moved", "org/elsewhere");
  lab.hub.faults.push({ path: /gone/, times: 9, as: { status: 404 } });
  const said = await lab.say(() => sourcesVerify(lab.repository, [], quiet));
  assert.equal(said.code, 1);
  assert.match(said.stderr, /sources\/gone\.yaml:4:13 hub-missing/);
  assert.match(said.stdout, /moved:\n {2}not locked \(outdated: it was locked for the dataset org\/moved\)/);
  assert.match(said.stdout, /new:\n {2}not locked \(unresolved\): `pnpm pipeline sources lock new`/);
  assert.match(said.stdout, /0 sources as locked, 2 differ, 1 could not be compared/);
  writeFileSync(join(lab.repository, "sources.lock.yaml"), "formatVersion: 9\nsources: {}\n");
  assert.match(
    (await lab.say(() => sourcesVerify(lab.repository, [], quiet))).stderr,
    /bad-lock: formatVersion is 9, not 1/,
  );
});
