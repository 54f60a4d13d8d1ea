import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { actionKey } from "@mlrb/core/key/action-key";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { collectGarbage } from "../store/garbage-collection.ts";
import { ingest } from "../store/ingest-outputs.ts";
import { exampleParts, exampleRecord } from "../testing/example-record.ts";
import { type Home, home } from "../testing/small-plan.ts";
import { thinRecords } from "./thin-records.ts";
import { verifyRecord } from "./verify-record.ts";

const weights = (fill: string, mib = 2) => Buffer.alloc(mib << 20, fill);

async function folderOf(at: Home, files: Record<string, string | Buffer>): Promise<Artifact> {
  const folder = mkdtempSync(join(at.root, "made-"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return ingest(folder, "dir", at.open());
}

type Made = { digest: string; record: AttemptRecord };

async function attempt(
  at: Home,
  seed: number,
  outputs: Record<string, Record<string, string | Buffer>>,
  more: Partial<AttemptRecord> = {},
): Promise<Made> {
  const made: AttemptRecord["outputs"] = {};
  for (const [name, files] of Object.entries(outputs))
    made[name] = { ...(await folderOf(at, files)), file: name };
  const slot = { pipeline: "small", profile: "smoke", stage: `attempt[seed=${seed}]` };
  const record = {
    ...exampleRecord,
    slot,
    attemptKey: `key ${seed}`,
    axes: { seed },
    outputs: made,
    ...more,
  };
  return { digest: at.open().attempts.put(record, join(at.root, "no log")), record };
}

/** An attempt with a submission, an earlier snapshot, and a snapshot that equals the submission. */
function usual(at: Home, seed = 1, more: Partial<AttemptRecord> = {}): Promise<Made> {
  const outputs = {
    submission: { "model.safetensors": weights(`end ${seed}`), "config.json": "{}" },
    snapshots: {
      "1/model.safetensors": weights(`early ${seed}`),
      "1/config.json": "{}",
      "2/model.safetensors": weights(`end ${seed}`),
      "index.json": "[]",
    },
  };
  return attempt(at, seed, outputs, more);
}

/** Adds a result that a stage made of `input`, with the same files, as a clean folder has. */
function derive(at: Home, name: string, input: string, output: Artifact): void {
  const { actions, store } = at.open();
  const key = hash("sha256", name);
  const parts = { ...exampleParts, inputs: { input } };
  const ran = { ...exampleRecord.ran, stage: name };
  actions.put({ formatVersion: 1, key, parts, codeFiles: store.putText("{}"), outputs: { output }, ran });
}

const thin = (at: Home, made: Made[], outputs: string[], dryRun = false) =>
  thinRecords(
    made.map((one) => ({ ...one, outputs, why: "a test" })),
    at.open(),
    { now: new Date(0), dryRun },
  );

const verify = (at: Home, digest: string) => {
  const { attempts, state, store } = at.open();
  return verifyRecord(digest, { records: attempts, folder: join(state.attempts, "records"), store });
};

const fileAt = (at: Home, { digest }: Made, path: string) =>
  join(at.open().state.attempts, "records", digest, path);

/** The bytes of all files of the state, each inode once. */
function bytesOnDisk(at: Home): number {
  const sizes = new Map<number, number>();
  for (const entry of readdirSync(join(at.root, ".mlrb"), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const { ino, size } = lstatSync(join(entry.parentPath, entry.name));
    sizes.set(ino, size);
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

test("thinned snapshots leave the record and the cache, free their bytes, and the record is still sound", async (t: TestContext) => {
  const at = home(t);
  const made = await usual(at);
  derive(at, "of the snapshots", made.record.outputs.snapshots!.digest, made.record.outputs.snapshots!);
  const before = bytesOnDisk(at);
  const { records, freed } = thin(at, [made], ["snapshots"]);
  assert.deepEqual(
    records.map(({ files, shared }) => [files.map(({ path }) => path), shared]),
    [[["snapshots/1/model.safetensors"], 1]],
    "the snapshot that equals the submission takes no space",
  );
  assert.equal(freed, 2 << 20);
  const line = readFileSync(join(at.open().state.attempts, "thinned.jsonl")).length;
  assert.equal(before - bytesOnDisk(at), freed - line);
  assert.equal(existsSync(fileAt(at, made, "snapshots/1/config.json")), true);
  assert.deepEqual(verify(at, made.digest), { record: made.digest, repaired: [], left: [], thinned: 1 });
});

test("a submission is thinned with everything made from it, and its record is found by its key, also without a cache", async (t) => {
  const at = home(t);
  const made = await usual(at);
  const clean = await folderOf(at, { "model.safetensors": weights("end 1"), "clean.json": "{}" });
  derive(at, "clean", made.record.outputs.submission!.digest, clean);
  derive(at, "of clean", clean.digest, await folderOf(at, { "model.safetensors": weights("end 1") }));
  const { freed } = thin(at, [made], ["snapshots", "submission"]);
  assert.equal(freed, 4 << 20);
  for (const cache of ["with", "without"]) {
    if (cache === "without") rmSync(join(at.root, ".mlrb/cache"), { recursive: true });
    const { attempts, store } = at.open();
    attempts.ensureStored(made.digest, made.record);
    assert.equal(attempts.find("key 1")?.digest, made.digest);
    const { submission } = made.record.outputs;
    assert.equal(store.canGive(submission!), false, "its weights are gone");
    assert.equal(store.canGive(submission!, attempts.isThinned), true, "and everything else is there");
    assert.deepEqual(verify(at, made.digest).left, []);
  }
});

test("weights that another record, a given model or another stage's result holds stay everywhere", async (t) => {
  const at = home(t);
  const given = await folderOf(at, { "model.safetensors": weights("given") });
  const source = { name: "models", stage: "models", output: "models", ...given };
  const files = {
    "a.safetensors": weights("given"),
    "b.safetensors": weights("twin"),
    "c.safetensors": weights("built"),
  };
  const one = await attempt(at, 1, { submission: files }, { given: [source] });
  const twin = await attempt(at, 2, { submission: { "b.safetensors": weights("twin") } });
  derive(at, "built", "f".repeat(64), await folderOf(at, { "c.safetensors": weights("built") }));
  const { records, freed } = thin(at, [one], ["submission"]);
  assert.deepEqual([records[0]!.files, records[0]!.shared, freed], [[], 3, 0]);
  const both = thin(at, [one, twin], ["submission"]);
  assert.equal(both.freed, 2 << 20, "both together free what they share");
  assert.deepEqual(
    both.records.map(({ files: gone }) => gone.map(({ path }) => path)),
    [["submission/b.safetensors"], ["submission/b.safetensors"]],
  );
  assert.equal(at.open().store.canGive(given), true);
});

test("weights stay while a result that was made of them is damaged, and the stage is named", async (t) => {
  const at = home(t);
  const made = await usual(at);
  const clean = await folderOf(at, { "model.safetensors": weights("end 1"), "clean.json": "{}" });
  derive(at, "clean", made.record.outputs.submission!.digest, clean);
  const { store } = at.open();
  const score: Artifact = { kind: "file", digest: store.putText("0.25") };
  derive(at, "score", clean.digest, score);
  const path = store.pathOf(score.digest);
  chmodSync(path, 0o644);
  writeFileSync(path, ""); // as a power cut leaves it
  for (const dry of [true, false]) {
    const { records, freed } = thin(at, [made], ["submission"], dry);
    assert.deepEqual([records[0]!.files, records[0]!.damaged, freed], [[], ["score"], 0]);
  }
  assert.equal(existsSync(join(at.open().state.attempts, "thinned.jsonl")), false);
  at.open().store.putText("0.25");
  assert.equal(thin(at, [made], ["snapshots", "submission"]).freed, 4 << 20);
});

test("`cache gc` keeps what was made of thinned weights, and removes what can be made again", async (t) => {
  const at = home(t);
  const made = await usual(at);
  const other = await usual(at, 2);
  const clean = await folderOf(at, { "model.safetensors": weights("end 1"), "clean.json": "{}" });
  derive(at, "clean", made.record.outputs.submission!.digest, clean);
  const scoreOf = (name: string, input: string) => {
    const score: Artifact = { kind: "file", digest: at.open().store.putText(name) };
    derive(at, name, input, score);
    return score;
  };
  const score = scoreOf("score", clean.digest);
  const open = scoreOf("other score", other.record.outputs.submission!.digest);
  thin(at, [made], ["snapshots", "submission"]);
  const removed = collectGarbage(at.open().state);
  assert.equal("busy" in removed || removed.actions, 1);
  const { actions, store } = at.open();
  assert.deepEqual(actions.get(hash("sha256", "score"))?.outputs, { output: score });
  assert.deepEqual([store.has(score.digest), store.has(open.digest)], [true, false]);
  assert.equal(store.has(clean.digest), true, "the score's key is found through it");
});

test("an import of an archive gives a thinned record its weights again, and only what is asked goes a second time", async (t) => {
  const at = home(t);
  const made = await usual(at, 1, { attemptKey: actionKey(exampleRecord.parts) });
  const archive = join(at.root, "archive", made.digest);
  cpSync(fileAt(at, made, ""), archive, { recursive: true });
  const before = bytesOnDisk(at);
  thin(at, [made], ["snapshots", "submission"]);
  const line = readFileSync(join(at.open().state.attempts, "thinned.jsonl")).length;
  const from = { archive: "a".repeat(64), signedBy: null, signingKey: null };
  const bring = () => at.open().attempts.import(archive, made.digest, from, new Date());
  assert.deepEqual(bring(), { kind: "restored" });
  assert.deepEqual(verify(at, made.digest), { record: made.digest, repaired: [], left: [] });
  const { attempts, store } = at.open();
  attempts.ensureStored(made.digest, made.record);
  for (const output of Object.values(made.record.outputs)) assert.equal(store.isWhole(output), true);
  assert.ok(bytesOnDisk(at) - line <= before + (2 << 20), "a restored file shares its bytes with the cache");
  assert.deepEqual(bring(), { kind: "here" });
  thin(at, [made], ["snapshots"]);
  assert.equal(existsSync(fileAt(at, made, "submission/model.safetensors")), true);
  assert.equal(at.open().store.canGive(made.record.outputs.submission!), true);
  assert.equal(verify(at, made.digest).thinned, 1, "the snapshot that equals the submission stays");
});

test("a dry run states the same and removes nothing", async (t) => {
  const at = home(t);
  const made = await usual(at);
  const before = bytesOnDisk(at);
  const dry = thin(at, [made], ["snapshots", "submission"], true);
  assert.equal(bytesOnDisk(at), before);
  assert.equal(existsSync(join(at.open().state.attempts, "thinned.jsonl")), false);
  assert.deepEqual(thin(at, [made], ["snapshots", "submission"]), dry);
});

test("a listed file with another digest, and a file that is gone without a line, are still damage", async (t) => {
  const at = home(t);
  const made = await usual(at);
  rmSync(fileAt(at, made, "submission/model.safetensors"));
  rmSync(join(at.root, ".mlrb/cache"), { recursive: true });
  assert.match(verify(at, made.digest).left.join(), /submission: its submission is not what the record says/);
  const file = { path: "submission/model.safetensors", digest: "a".repeat(64), bytes: 1 };
  const line = { formatVersion: 1, thinnedAt: "", record: made.digest, why: "forged", files: [file] };
  writeFileSync(join(at.open().state.attempts, "thinned.jsonl"), `${JSON.stringify(line)}\n`);
  assert.equal(verify(at, made.digest).left.length, 1);
});

test("a kill at any moment leaves an attempt that is sound and found, and the next call removes the rest", async (t) => {
  const at = home(t);
  const many = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`${index}.safetensors`, `small ${index}`]),
  );
  const made = await attempt(at, 1, { snapshots: { ...many, "index.json": "[]" } });
  const { state } = at.open();
  const here = (name: string) => pathToFileURL(join(import.meta.dirname, name)).href;
  const program = join(at.root, "thin.mjs");
  writeFileSync(
    program,
    `import { thinRecords } from "${here("thin-records.ts")}";
     import { openWorkspace } from "${here("../store/workspace.ts")}";
     const root = ${JSON.stringify(at.root)};
     const workspace = openWorkspace({ repository: root, root, pipeline: "small", profile: "smoke" });
     const [digest] = workspace.attempts.list();
     const record = workspace.attempts.read(digest);
     thinRecords([{ digest, record, outputs: ["snapshots"], why: "killed" }], workspace, { now: new Date(0) });`,
  );
  const folder = fileAt(at, made, "snapshots");
  const left = () => readdirSync(folder).length;
  const child = spawn(process.execPath, [program], { stdio: "inherit" });
  const deadline = Date.now() + 20_000;
  while (left() === 301 && Date.now() < deadline && child.exitCode === null)
    await new Promise((done) => setImmediate(done));
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.ok(left() > 1 && left() < 301, `it was killed in between: ${left()} files are left`);
  assert.deepEqual(verify(at, made.digest).left, []);
  const { attempts } = at.open();
  attempts.ensureStored(made.digest, made.record);
  assert.equal(attempts.find("key 1")?.digest, made.digest);
  thin(at, [made], ["snapshots"]);
  assert.equal(left(), 1);
  const { store } = at.open();
  const contents = store.filesOf(made.record.outputs.snapshots!.digest);
  assert.deepEqual(
    contents.filter(({ digest }) => store.has(digest)).map(({ path }) => path),
    ["index.json"],
  );
  assert.equal(verify(at, made.digest).thinned, 300);
  const lines = readFileSync(join(state.attempts, "thinned.jsonl"), "utf8").trim().split("\n");
  assert.equal(lines.length, 1, "the rest was announced by the first call");
});

test("a line torn by a kill removed nothing, and the next call adds a whole one", async (t) => {
  const at = home(t);
  const made = await usual(at);
  writeFileSync(join(at.open().state.attempts, "thinned.jsonl"), '{"files":[{"path":"submission/mo');
  assert.deepEqual(verify(at, made.digest), { record: made.digest, repaired: [], left: [] });
  thin(at, [made], ["snapshots"]);
  assert.deepEqual(verify(at, made.digest), { record: made.digest, repaired: [], left: [], thinned: 1 });
});
