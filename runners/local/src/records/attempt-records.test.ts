import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { actionKey } from "@mlrb/core/key/action-key";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { MissingContent, Store } from "../store/artifact-store.ts";
import { verifyStore } from "../store/garbage-collection.ts";
import { ingestAll } from "../store/ingest-outputs.ts";
import { stateFolder } from "../store/state-folder.ts";
import { VerifiedContents } from "../store/verified-contents.ts";
import { exampleParts, exampleRecord } from "../testing/example-record.ts";
import { exportRecord } from "./archives/export-record.ts";
import { AttemptRecords, DamagedRecord } from "./attempt-records.ts";
import { indexLine } from "./record-line.ts";

const root = mkdtempSync(join(tmpdir(), "records-"));
after(() => rmSync(root, { recursive: true }));

const model = Buffer.alloc(3 << 20, "weights");
const sha256 = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest("hex");

/** A state folder. `attempts` elsewhere puts the attempts on another disk. */
function state({ attempts }: { attempts?: string } = {}) {
  const above = mkdtempSync(join(root, "state-"));
  const folder = { ...stateFolder(above), ...(attempts && { attempts }) };
  const store = new Store(folder.blobs);
  const verified = new VerifiedContents(folder.memory);
  const records = new AttemptRecords(folder.attempts, { store, verified });
  const at = (digest: string, file = "") => join(folder.attempts, "records", digest, file);
  return { above, folder, store, verified, records, at };
}

type State = ReturnType<typeof state>;

/** The digest stands for an archive. */
const unsigned = { archive: sha256("archive"), signedBy: null, signingKey: null };
const imports = ({ records }: State, from: string, digest: string) =>
  records.import(from, digest, unsigned, new Date());
/** The problem of a refused import. */
function refusal(at: State, from: string, digest: string): string {
  const end = imports(at, from, digest);
  return end.kind === "refused" ? end.problem : `not refused: ${end.kind}`;
}

const given = [
  { name: "submission", kind: "dir" },
  { name: "snapshots", kind: "dir" },
] as const;

/** Submits a model with two snapshots, the second equal to the submission, as an attempt does. */
async function keep(to: State, seed: number, more: (submission: string) => void = () => {}): Promise<string> {
  const out = mkdtempSync(join(to.above, "out-"));
  for (const name of ["submission", "snapshots", "snapshots/0001", "snapshots/0002"])
    mkdirSync(join(out, name));
  writeFileSync(join(out, "submission/model"), model);
  writeFileSync(join(out, "submission/card"), "small");
  writeFileSync(join(out, "snapshots/0001/card"), "small");
  linkSync(join(out, "submission/model"), join(out, "snapshots/0001/model"));
  writeFileSync(join(out, "snapshots/0002/model"), model);
  more(join(out, "submission"));
  const taken = await ingestAll(
    given.map((one) => ({ ...one, path: join(out, one.name) })),
    to,
  );
  if ("problem" in taken) throw new Error(taken.problem);
  return to.records.put(recordOf(taken.outputs, seed), join(out, "log"));
}

function recordOf(outputs: Record<string, Artifact>, seed: number): AttemptRecord {
  const parts = { ...exampleParts, axes: { seed } };
  return {
    ...exampleRecord,
    slot: { pipeline: "p", profile: "smoke", stage: `attempt[seed=${seed}]` },
    axes: { seed },
    parts,
    attemptKey: actionKey(parts),
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, one]) => [name, { ...one, file: name }])),
  };
}

const names = ["submission/model", "snapshots/0001/model", "snapshots/0002/model"];
const inodes = (paths: string[]) => new Set(paths.map((path) => statSync(path).ino)).size;

/** Writes into the existing file, which no program should do. */
function damage(path: string): void {
  chmodSync(path, 0o644);
  const file = openSync(path, "r+");
  writeSync(file, "damage", 1000);
  closeSync(file);
}

test("a submitted model is on the disk once: for a submission, its snapshots, another attempt and the cache", async () => {
  const at = state();
  const one = await keep(at, 1);
  const two = await keep(at, 2);
  assert.notEqual(one, two);
  const paths = [one, two].flatMap((digest) => names.map((name) => at.at(digest, name)));
  assert.equal(inodes([...paths, at.store.pathOf(sha256(model))]), 1);
  for (const path of paths) assert.deepEqual(readFileSync(path), model, "a plain file to any reader");
  const small = at.at(one, "submission/card");
  assert.equal(statSync(small).nlink, 1, "what is small is a copy, which damage elsewhere does not reach");
  assert.equal(statSync(paths[0]!).mode & 0o777, 0o444);
});

test("a record keeps every byte without the cache and without the other records that share its files", async () => {
  const at = state();
  const one = await keep(at, 1);
  const two = await keep(at, 2);
  rmSync(join(at.folder.state, "cache"), { recursive: true });
  rmSync(at.at(one), { recursive: true });
  for (const name of names) assert.deepEqual(readFileSync(at.at(two, name)), model);
  const next = { ...at, ...stateOf(at) };
  next.records.ensureStored(two, next.records.read(two));
  const blob = next.store.pathOf(sha256(model));
  assert.deepEqual(readFileSync(blob), model);
  assert.equal(inodes([blob, at.at(two, names[0])]), 1, "it comes back without a second copy");
});

/** What a later command opens in the same folder. */
function stateOf({ above }: State) {
  const folder = stateFolder(above);
  const store = new Store(folder.blobs);
  const verified = new VerifiedContents(folder.memory);
  return { folder, store, verified, records: new AttemptRecords(folder.attempts, { store, verified }) };
}

test("a record of full copies, as older versions made it, is read, and the store shares no file with it", async () => {
  const at = state();
  const digest = await keep(at, 1);
  const copies = join(at.above, "copies");
  for (const name of names) {
    mkdirSync(join(copies, name, ".."), { recursive: true });
    cpSync(at.at(digest, name), join(copies, name));
    rmSync(at.at(digest, name), { force: true });
    cpSync(join(copies, name), at.at(digest, name));
    chmodSync(at.at(digest, name), 0o644);
  }
  rmSync(join(at.folder.state, "cache"), { recursive: true });
  const next = stateOf(at);
  next.records.ensureStored(digest, next.records.read(digest));
  assert.deepEqual(readFileSync(next.store.pathOf(sha256(model))), model);
  const all = [...names.map((name) => at.at(digest, name)), next.store.pathOf(sha256(model))];
  assert.equal(inodes(all), 4, "who may write one of them reaches no other");
});

test("a large executable file is a copy, because it has its own mode", async () => {
  const at = state();
  const digest = await keep(at, 1, (submission) => {
    writeFileSync(join(submission, "program"), model);
    chmodSync(join(submission, "program"), 0o755);
  });
  const program = statSync(at.at(digest, "submission/program"));
  assert.equal(program.nlink, 1);
  assert.equal(program.mode & 0o111, 0o111);
  assert.equal(statSync(at.at(digest, "submission/model")).mode & 0o111, 0);
});

const otherDisk = "/dev/shm";
const hasOther = existsSync(otherDisk) && statSync(otherDisk).dev !== statSync(tmpdir()).dev;

test("records on another disk than the cache are copies of the cache, and share files among themselves", {
  skip: hasOther ? false : `${otherDisk} is no other file system`,
}, async (t) => {
  const attempts = mkdtempSync(join(otherDisk, "mlrb-records-"));
  t.after(() => rmSync(attempts, { recursive: true }));
  const at = state({ attempts });
  const digest = await keep(at, 1);
  assert.equal(inodes(names.map((name) => at.at(digest, name))), 1);
  assert.deepEqual(readFileSync(at.at(digest, names[2])), model);
  assert.equal(statSync(at.store.pathOf(sha256(model))).nlink, 1);
});

test("a file that has the most names its file system allows is copied once for a record", async (t) => {
  const at = state();
  await keep(at, 1);
  const blob = at.store.pathOf(sha256(model));
  const links = join(at.above, "links");
  mkdirSync(links);
  let count = 0;
  try {
    for (; count < 66_000; count++) linkSync(blob, join(links, String(count)));
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "EMLINK");
  }
  if (count === 66_000) return t.skip("this file system has no such limit");
  const digest = await keep(at, 2);
  const paths = names.map((name) => at.at(digest, name));
  assert.equal(inodes(paths), 1);
  assert.equal(inodes([paths[0]!, blob]), 2);
  assert.deepEqual(readFileSync(paths[0]!), model);
});

test("every record that shares a damaged file reports the file and the way out, and returns no outputs", async () => {
  const at = state();
  const digests = [await keep(at, 1), await keep(at, 2)];
  damage(at.at(digests[0]!, "snapshots/0001/model"));
  const { damaged, attempts } = verifyStore(at.folder);
  assert.deepEqual(damaged, [sha256(model)]);
  const files = digests.sort().flatMap((record) => [...names].sort().map((file) => ({ record, file })));
  const sorted = attempts.sort((a, b) => (a.record + a.file < b.record + b.file ? -1 : 1));
  assert.deepEqual(sorted, files);
  for (const digest of digests) {
    assert.throws(
      () => at.records.ensureStored(digest, at.records.read(digest)),
      (error: Error) => {
        assert.ok(error instanceof DamagedRecord);
        assert.equal(
          error.message,
          `attempt ${digest.slice(0, 12)} is damaged: it was changed: its snapshots is not what its record says (0001/model, 0002/model); put the original back as .mlrb/attempts/records/${digest}, or remove that folder to have the attempt made again (\`pnpm pipeline attempts verify\` reads all of it)`,
        );
        return true;
      },
    );
  }
  assert.ok(!at.store.has(sha256(model)));
  writeFileSync(at.at(digests[0]!, names[0]), model); // as root, or after chmod: the original is written in place
  for (const digest of digests) at.records.ensureStored(digest, at.records.read(digest));
  assert.deepEqual(readFileSync(at.store.pathOf(sha256(model))), model, "one put back heals all");
});

test("a content that is damaged in the store is not linked into a record, and no partial record stays", async () => {
  const at = state();
  const out = join(at.above, "out");
  writeFileSync(out, model);
  const taken = await ingestAll([{ name: "submission", kind: "file", path: out }], at);
  if ("problem" in taken) throw new Error(taken.problem);
  damage(at.store.pathOf(sha256(model)));
  const record = recordOf(taken.outputs, 1);
  assert.throws(() => at.records.put(record, join(at.above, "log")), MissingContent);
  assert.deepEqual(readdirSync(join(at.folder.attempts, "records")), []);
});

test("an attempt's good file replaces the store's damaged copy of its model", async () => {
  const at = state();
  await keep(at, 1);
  const first = at.store.pathOf(sha256(model));
  damage(first);
  const digest = await keep(at, 2);
  for (const name of names) assert.deepEqual(readFileSync(at.at(digest, name)), model);
  assert.deepEqual(readFileSync(first), model);
});

test("an imported record has the original model even if the store's copy is damaged", async () => {
  const from = state();
  const digest = await keep(from, 1);
  const at = state();
  const blob = at.store.pathOf(sha256(model));
  mkdirSync(join(blob, ".."), { recursive: true });
  writeFileSync(blob, Buffer.alloc(model.length, "damage"));
  assert.deepEqual(imports(at, from.at(digest), digest), { kind: "imported" });
  for (const name of names) assert.deepEqual(readFileSync(at.at(digest, name)), model);
});

test("an exported record shares its files with other exported records, and none with the state", async () => {
  const at = state();
  const digests = [await keep(at, 1), await keep(at, 2)];
  const to = join(at.above, "exported");
  mkdirSync(to);
  const copied = new Map<string, string>();
  for (const digest of digests) exportRecord(at.at(digest), join(to, digest), copied);
  assert.deepEqual(readdirSync(to).sort(), [...digests].sort());
  const paths = digests.flatMap((digest) => names.map((name) => join(to, digest, name)));
  assert.equal(inodes(paths), 1);
  assert.equal(inodes([paths[0]!, at.at(digests[0]!, names[0])]), 2);
  assert.equal(inodes(digests.map((digest) => join(to, digest, "submission/card"))), 2);
});

test("both forms of an export are imported, as records that share files; a changed one is refused and its output named", async () => {
  const from = state();
  const digest = await keep(from, 1);
  for (const form of ["shared", "copies", "changed"]) {
    const to = join(from.above, form);
    exportRecord(from.at(digest), to, new Map());
    if (form !== "shared")
      for (const name of names) {
        rmSync(join(to, name));
        writeFileSync(join(to, name), model);
      }
    if (form === "changed") damage(join(to, names[1]!));
    const at = state();
    const end = imports(at, to, digest);
    if (form === "changed") {
      assert.deepEqual(end, { kind: "refused", problem: "its snapshots is not what its record says" });
      assert.deepEqual(at.records.list(), []);
      continue;
    }
    assert.deepEqual(end, { kind: "imported" });
    assert.deepEqual(at.records.read(digest), from.records.read(digest));
    const paths = names.map((name) => at.at(digest, name));
    assert.equal(inodes([...paths, at.store.pathOf(sha256(model))]), 1);
    assert.equal(inodes([paths[0]!, join(to, names[0]!)]), 2, "what a person has is not ours");
  }
});

test("a record that does not follow its format is refused with the field, on import and if a user put it there", () => {
  const at = state();
  const text = JSON.stringify({ ...recordOf({}, 1), cost: { gpuHours: "many", dollars: null } });
  const digest = sha256(text);
  const from = join(at.above, "from");
  mkdirSync(from);
  writeFileSync(join(from, "record.json"), text);
  const problem = /does not follow its format: cost\.gpuHours is "many", not a finite number or null/;
  assert.match(refusal(at, from, digest), problem);
  assert.deepEqual(at.records.list(), []);
  cpSync(from, at.at(digest), { recursive: true });
  assert.throws(() => at.records.read(digest), problem);
  assert.deepEqual(at.records.readable(), []);
});

test("an exported record.json that is a link or larger than any record is refused without being read", () => {
  const at = state();
  const from = join(at.above, "from");
  mkdirSync(from);
  const path = join(from, "record.json");
  writeFileSync(path, "");
  truncateSync(path, 2 ** 40);
  assert.match(refusal(at, from, sha256("")), /record\.json: 1099511627776 bytes; at most/);
  rmSync(path);
  symlinkSync("/dev/zero", path);
  assert.match(refusal(at, from, sha256("")), /record\.json is not a plain file/);
});

test("an output's file is a name in the record's folder and never a path out of the folder", () => {
  const at = state();
  const outputs = { model: { kind: "file", digest: "a".repeat(64), file: "../model" } };
  const text = JSON.stringify({ ...recordOf({}, 1), outputs });
  const from = join(at.above, "from");
  mkdirSync(from);
  writeFileSync(join(from, "record.json"), text);
  assert.match(refusal(at, from, sha256(text)), /outputs\.model\.file is "\.\.\/model"/);
});

test("a record that the index names was checked before and is not checked again", () => {
  const at = state();
  const text = JSON.stringify({ ...recordOf({}, 1), cost: { gpuHours: "many", dollars: null } });
  const digest = sha256(text);
  mkdirSync(at.at(digest), { recursive: true });
  writeFileSync(at.at(digest, "record.json"), text);
  const line = { record: digest, key: "key 1", slot: "p smoke attempt[seed=1]", startedAt: "2026-01-01" };
  writeFileSync(join(at.folder.attempts, "index.jsonl"), `${indexLine(line)}\n`);
  assert.deepEqual(
    at.records.readable().map((one) => one.digest),
    [digest],
  );
});
