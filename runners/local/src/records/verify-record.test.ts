import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { Store } from "../store/artifact-store.ts";
import { verifyStore } from "../store/garbage-collection.ts";
import { ingestAll } from "../store/ingest-outputs.ts";
import { stateFolder } from "../store/state-folder.ts";
import { VerifiedContents } from "../store/verified-contents.ts";
import { exampleRecord } from "../testing/example-record.ts";
import { AttemptRecords, DamagedRecord } from "./attempt-records.ts";
import { verifyRecord } from "./verify-record.ts";

function state(t: TestContext) {
  const above = mkdtempSync(join(tmpdir(), "mlrb-verify-"));
  t.after(() => rmSync(above, { recursive: true, force: true }));
  const folder = stateFolder(above);
  const store = new Store(folder.blobs);
  const verified = new VerifiedContents(folder.memory);
  const open = () => new AttemptRecords(folder.attempts, { store, verified });
  const records = join(folder.attempts, "records");
  const at = (digest: string, file: string) => join(records, digest, file);
  const verify = (digest: string) => verifyRecord(digest, { records: open(), folder: records, store });
  return { above, folder, store, verified, open, at, verify, records };
}

type State = ReturnType<typeof state>;

const slot = (seed: number) => ({ pipeline: "p", profile: "smoke", stage: `attempt[seed=${seed}]` });

async function keep(to: State, seed: number): Promise<string> {
  const out = mkdtempSync(join(to.above, "out-"));
  mkdirSync(join(out, "submission/deep"), { recursive: true });
  writeFileSync(join(out, "submission/card"), `card of ${seed}`);
  writeFileSync(join(out, "submission/deep/model"), `weights of ${seed}`);
  chmodSync(join(out, "submission/deep/model"), 0o755);
  writeFileSync(join(out, "log.json"), `log of ${seed}`);
  const given = [
    { name: "submission", kind: "dir", path: join(out, "submission") },
    { name: "log", kind: "file", path: join(out, "log.json") },
  ] as const;
  const taken = await ingestAll(given, to);
  if ("problem" in taken) throw new Error(taken.problem);
  const outputs = Object.entries(taken.outputs).map(([name, one]) => [name, { ...one, file: name }]);
  const record: AttemptRecord = {
    ...exampleRecord,
    slot: slot(seed),
    axes: { seed },
    attemptKey: `key ${seed}`,
    outputs: Object.fromEntries(outputs),
  };
  return to.open().put(record, join(out, "none"));
}

function write(path: string, text: string): void {
  chmodSync(path, 0o644);
  writeFileSync(path, text);
}

test("a damaged record stops its own attempt and no other, with and without the index", async (t) => {
  const at = state(t);
  const bad = await keep(at, 1);
  const good = await keep(at, 2);
  const text = readFileSync(at.at(bad, "record.json"), "utf8");
  for (const index of ["with", "without"]) {
    if (index === "without") rmSync(join(at.folder.attempts, "index.jsonl"));
    for (const damage of [text.slice(0, -2), text.replace('"gpuHours": 0', '"gpuHours": 9')]) {
      write(at.at(bad, "record.json"), damage);
      const records = at.open();
      assert.equal(records.find("key 2")?.digest, good);
      assert.equal(records.inSlot(slot(2))?.digest, good);
      assert.equal(records.currentIn(slot(2)), good);
      assert.throws(
        () => records.find("key 1"),
        DamagedRecord,
        "never taken for an attempt that was not made",
      );
      assert.throws(() => records.inSlot(slot(1)), new RegExp(`records/${bad}`));
      records.throwIfUnknown();
      const damaged: string[] = [];
      assert.deepEqual(
        records.readable((digest) => damaged.push(digest)).map(({ digest }) => digest),
        [good],
      );
      assert.deepEqual(damaged, [bad]);
    }
  }
});

test("a record that does not show its attempt stops each attempt without a record, and no attempt with one", async (t) => {
  const at = state(t);
  const bad = await keep(at, 1);
  const good = await keep(at, 2);
  rmSync(join(at.folder.attempts, "index.jsonl"));
  chmodSync(at.at(bad, "record.json"), 0o644);
  truncateSync(at.at(bad, "record.json"), 0);
  const records = at.open();
  assert.equal(records.find("key 2")?.digest, good);
  assert.equal(records.find("key 3"), undefined);
  assert.throws(() => records.throwIfUnknown(), /it no longer shows which attempt it belongs to/);
  assert.equal(records.find("key 2")?.digest, good, "asked again, it still says the same");
});

test("sound records are reported as sound, with and without a cache", async (t) => {
  const at = state(t);
  const one = await keep(at, 1);
  assert.deepEqual(at.verify(one), { record: one, repaired: [], left: [] });
  rmSync(at.folder.blobs, { recursive: true });
  mkdirSync(at.folder.blobs);
  assert.deepEqual(at.verify(one), { record: one, repaired: [], left: [] });
});

test("damaged and missing files of a record are named and restored from the cache, with their modes", async (t) => {
  const at = state(t);
  const one = await keep(at, 1);
  write(at.at(one, "submission/deep/model"), "rot");
  rmSync(at.at(one, "log"));
  const check = at.verify(one);
  assert.deepEqual(check.repaired.sort(), ["log", "submission/deep/model"]);
  assert.deepEqual(check.left, []);
  assert.equal(readFileSync(at.at(one, "submission/deep/model"), "utf8"), "weights of 1");
  assert.deepEqual(at.verify(one).repaired, []);
});

test("a damaged file without a sound copy in the cache is left as it is and named", async (t) => {
  const at = state(t);
  const one = await keep(at, 1);
  const model = at.store
    .filesOf(at.open().read(one).outputs.submission!.digest)
    .find(({ path }) => path === "deep/model")!;
  write(at.at(one, "submission/deep/model"), "rot");
  write(at.store.pathOf(model.digest), "rot");
  assert.deepEqual(at.verify(one).left, [
    "submission/deep/model is damaged, and the cache has no sound copy of it",
  ]);
  rmSync(at.folder.blobs, { recursive: true });
  mkdirSync(at.folder.blobs);
  assert.match(at.verify(one).left.join(), /^submission: its submission is not what the record says/);
  write(at.at(one, "record.json"), "{}");
  assert.match(at.verify(one).left.join(), /^record\.json is not/);
});

test("a file that a record does not have is reported and left alone", async (t) => {
  const at = state(t);
  const one = await keep(at, 1);
  writeFileSync(at.at(one, "submission/extra"), "who put me here?");
  assert.equal(at.verify(one).left.length, 1);
  assert.equal(readFileSync(at.at(one, "submission/extra"), "utf8"), "who put me here?");
});

test("a damaged content of the cache is replaced from an attempt's record that has a copy", async (t) => {
  const at = state(t);
  const one = await keep(at, 1);
  const { digest } = at.open().read(one).outputs.log!;
  write(at.store.pathOf(digest), "rot");
  const other = at.store.putText("only in the cache");
  write(at.store.pathOf(other), "rot");
  const { damaged, repaired } = verifyStore(at.folder);
  assert.deepEqual(damaged.sort(), [digest, other].sort());
  assert.deepEqual(repaired, [digest]);
  assert.equal(readFileSync(at.store.pathOf(digest), "utf8"), "log of 1");
});
