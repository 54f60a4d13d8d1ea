import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
import { checkFormat, stateFolder } from "./state-folder.ts";
import { VerifiedContents } from "./verified-contents.ts";

const newer = /is of format 99, and this mlrb reads up to \d; update mlrb or choose another --root/;
const older = (known: number) =>
  new RegExp(
    `is of format ${known - 1}, and this mlrb reads only ${known}; use the mlrb that wrote it or choose`,
  );

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

test("a state of an older format cannot be opened, and stays as it is", (t) => {
  const { root, state } = opened(t);
  const file = join(state.state, "format.json");
  writeFileSync(file, JSON.stringify({ formatVersion: 0 }));
  assert.throws(() => stateFolder(root), older(1));
  assert.throws(() => checkFormat(root), older(1));
  assert.throws(() => saidUnchanged({ repository: root, root, request: {} }), older(1));
  assert.equal(readFileSync(file, "utf8"), '{"formatVersion":0}');
});

for (const [what, text, refused] of [
  ["record is of a newer", record({ formatVersion: 99 }), newer],
  ["record is of an older", record({ formatVersion: 0 }), older(1)],
  ["key is of a newer", record({ parts: { keyFormat: 99 } }), newer],
  ["key is of an older", record({ parts: { ...exampleParts, keyFormat: 0 } }), older(1)],
] as const) {
  test(`a record whose ${what} format is neither used nor skipped`, (t) => {
    const { state, records } = opened(t);
    const digest = putRecord(state.attempts, text);
    assert.throws(() => records().read(digest), refused);
    assert.throws(() => records().find("another key"), refused);
    assert.throws(() => records().inSlot({ pipeline: "p", profile: "q", stage: "other" }), refused);
  });
}

test("a record of a newer format that only the index names is neither used nor skipped", (t) => {
  const { state, records } = opened(t);
  const digest = putRecord(state.attempts, record({}));
  assert.ok(records().find("key"));
  const now = { format: 1, keyFormat: 1 };
  for (const format of [{ keyFormat: 99 }, { format: 99 }]) {
    const line = { record: digest, key: "later", slot: "s", startedAt: "2026-01-01", ...now, ...format };
    writeFileSync(join(state.attempts, "index.jsonl"), `${indexLine(line)}\n`);
    assert.throws(() => records().find("key"), newer);
  }
});

test("a running attempt of another format, or with an end of a newer format, is not started again", (t) => {
  const { state } = opened(t);
  const folder = join(state.running, "a");
  mkdirSync(folder, { recursive: true });
  for (const card of [{ formatVersion: 99 }, { formatVersion: 1, parts: { keyFormat: 99 } }]) {
    writeFileSync(join(folder, "attempt.json"), JSON.stringify(card));
    assert.throws(() => attemptFolders(state.running), newer);
  }
  writeFileSync(join(folder, "attempt.json"), JSON.stringify({ formatVersion: 1, parts: { keyFormat: 0 } }));
  assert.throws(() => attemptFolders(state.running), older(1));
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
