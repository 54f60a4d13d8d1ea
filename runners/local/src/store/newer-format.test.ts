import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { canonicalJson } from "@mlrb/kit/json-file";
import { attemptEnd, attemptFolders } from "../attempts/attempt-folders.ts";
import { saidUnchanged } from "../decide/no-op-fast-path.ts";
import { FileDigests } from "../digests/file-digest-memory.ts";
import { AttemptRecords } from "../records/attempt-records.ts";
import { indexLine } from "../records/record-line.ts";
import { exampleParts, exampleRecord } from "../testing/example-record.ts";
import { Store } from "./artifact-store.ts";
import { checkFormat, raiseFormat, stateFolder } from "./state-folder.ts";
import { VerifiedContents } from "./verified-contents.ts";

const newer = /is of format 99, and this mlrb reads up to \d; update mlrb or choose another --root/;

function opened(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-newer-"));
  t.after(() => rmSync(root, { recursive: true }));
  const state = stateFolder(root);
  const store = new Store(state.blobs);
  const records = () =>
    new AttemptRecords(state.attempts, { store, verified: new VerifiedContents(state.memory) });
  return { root, state, store, records };
}

function record(more: object): string {
  return `${canonicalJson({ ...exampleRecord, ...more }, 2)}\n`;
}

function putRecord(attempts: string, text: string): string {
  const digest = createHash("sha256").update(text).digest("hex");
  mkdirSync(join(attempts, "records", digest), { recursive: true });
  writeFileSync(join(attempts, "records", digest, "record.json"), text);
  return digest;
}

test("a state of a newer format cannot be opened, not even by a run with nothing to do", (t) => {
  const { root, state } = opened(t);
  writeFileSync(join(state.state, "format.json"), JSON.stringify({ formatVersion: 99 }));
  assert.throws(() => stateFolder(root), newer);
  assert.throws(() => checkFormat(root), newer);
  assert.throws(() => saidUnchanged({ repository: root, root, request: {} }), newer);
});

test("a state of format 1 is used unchanged, and raised before an attempt is kept in it", (t) => {
  const { root, state, records } = opened(t);
  const file = join(state.state, "format.json");
  const format = () => JSON.parse(readFileSync(file, "utf8")).formatVersion;
  writeFileSync(file, JSON.stringify({ formatVersion: 1 }));
  stateFolder(root);
  assert.equal(format(), 1);
  records().put(JSON.parse(record({})), join(root, "no-log"));
  assert.equal(format(), 2, "5ceb805 would not find this attempt, and make it again");
  writeFileSync(file, JSON.stringify({ formatVersion: 99 }));
  raiseFormat(state);
  assert.equal(format(), 99);
});

for (const [what, text] of [
  ["record", record({ formatVersion: 99 })],
  ["key", record({ parts: { keyFormat: 99 } })],
] as const) {
  test(`a record whose ${what} is of a newer format is neither used nor skipped`, (t) => {
    const { state, records } = opened(t);
    const digest = putRecord(state.attempts, text);
    assert.throws(() => records().read(digest), newer);
    assert.throws(() => records().find("another key"), newer);
    assert.throws(() => records().inSlot({ pipeline: "p", profile: "q", stage: "other" }), newer);
  });
}

test("a record of a newer format that only the index names is neither used nor skipped", (t) => {
  const { state, records } = opened(t);
  const digest = putRecord(state.attempts, record({}));
  assert.ok(records().find("key"));
  for (const format of [{ keyFormat: 99 }, { format: 99 }]) {
    const line = { record: digest, key: "later", slot: "s", startedAt: "2026-01-01", ...format };
    writeFileSync(join(state.attempts, "index.jsonl"), `${indexLine(line)}\n`);
    assert.throws(() => records().find("key"), newer);
  }
});

test("an index of 5ceb805, whose lines have no format, is read", (t) => {
  const { state, records } = opened(t);
  const digest = putRecord(state.attempts, record({ parts: { ...exampleParts, keyFormat: 1 } }));
  const line = { record: digest, key: "key", slot: "p q attempt", startedAt: "2026-01-01" };
  appendFileSync(join(state.attempts, "index.jsonl"), `${JSON.stringify(line)}\n`);
  assert.equal(records().find("key")?.digest, digest);
});

test("a running attempt of a newer format, or with an end of a newer format, is not started again", (t) => {
  const { state } = opened(t);
  const folder = join(state.running, "a");
  mkdirSync(folder, { recursive: true });
  for (const card of [{ formatVersion: 99 }, { formatVersion: 1, parts: { keyFormat: 99 } }]) {
    writeFileSync(join(folder, "attempt.json"), JSON.stringify(card));
    assert.throws(() => attemptFolders(state.running), newer);
  }
  writeFileSync(join(folder, "end.json"), JSON.stringify({ formatVersion: 99 }));
  assert.throws(() => attemptEnd(folder), newer);
});

test("a folder of a newer format in the store is not read", (t) => {
  const { store } = opened(t);
  const digest = store.putText(canonicalJson({ formatVersion: 99, entries: [] }));
  assert.throws(() => store.entriesOf(digest), newer);
});

test("a memory of digests in another format is rebuilt and never used", (t) => {
  const { root, state } = opened(t);
  writeFileSync(join(root, "a.py"), "a");
  const digest = createHash("sha256").update("a").digest("hex");
  writeFileSync(
    join(state.memory, "files.json"),
    JSON.stringify({ formatVersion: 99, files: {}, syntax: { [digest]: "wrong" } }),
  );
  assert.notEqual(new FileDigests(root, state.memory).ofPatterns(["a.py"])["a.py"], "wrong");
});
