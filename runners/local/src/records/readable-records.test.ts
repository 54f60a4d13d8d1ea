import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { Store } from "../store/artifact-store.ts";
import { stateFolder } from "../store/state-folder.ts";
import { VerifiedContents } from "../store/verified-contents.ts";
import { exampleRecord } from "../testing/example-record.ts";
import { addAdjudication } from "./adjudications.ts";
import { AttemptRecords } from "./attempt-records.ts";

const root = mkdtempSync(join(tmpdir(), "readable-"));
after(() => rmSync(root, { recursive: true }));

/** A state folder with two recorded attempts, of 1 and of 2 dollars. */
function state() {
  const folder = stateFolder(mkdtempSync(join(root, "state-")));
  const open = () =>
    new AttemptRecords(folder.attempts, {
      store: new Store(folder.blobs),
      verified: new VerifiedContents(folder.memory),
    });
  const put = (dollars: number | null, more: Partial<AttemptRecord> = {}) =>
    open().put(
      { ...exampleRecord, attemptKey: `key ${dollars}`, cost: { gpuHours: 1, dollars }, ...more },
      "no log",
    );
  return {
    ...{ folder, open, put },
    digests: [put(1), put(2)],
    fileOf: (digest: string) => join(folder.attempts, "records", digest, "record.json"),
  };
}

/** The dollars of all records as a new process sums them. */
function listed({ open }: ReturnType<typeof state>, of?: { pipeline: string; profile: string }) {
  const damaged: string[] = [];
  const found = open().readable((_, { message }) => damaged.push(message), of);
  return { dollars: found.map(({ record }) => record.cost.dollars).sort(), damaged };
}

test("a new record is listed, and one of unknown cost stays unknown", () => {
  const at = state();
  at.put(null);
  assert.deepEqual(listed(at), { dollars: [1, 2, null], damaged: [] });
});

test("a removed record is not listed", () => {
  const at = state();
  rmSync(join(at.fileOf(at.digests[0]!), ".."), { recursive: true });
  assert.deepEqual(listed(at), { dollars: [2], damaged: [] });
});

test("a changed record of the same size and date is reported as damaged, not listed with its old cost", () => {
  const at = state();
  const path = at.fileOf(at.digests[0]!);
  const { atime, mtime } = statSync(path);
  writeFileSync(path, readFileSync(path, "utf8").replace('"dollars": 1', '"dollars": 7'));
  utimesSync(path, atime, mtime);
  const { dollars, damaged } = listed(at);
  assert.deepEqual(dollars, [2]);
  assert.match(damaged.join(), /its record\.json was changed/);
});

test("a record that lost its record.json is reported as damaged", () => {
  const at = state();
  rmSync(at.fileOf(at.digests[0]!));
  assert.match(listed(at).damaged.join(), /record\.json cannot be read/);
});

test("a decision about a record is seen next to the record", () => {
  const at = state();
  const [record] = at.digests;
  addAdjudication(at.folder.attempts, {
    ...{ record: record!, rule: "contamination", verdict: "pass", by: "a person", reason: "read it" },
    decidedAt: "2026-01-02T00:00:00.000Z",
  });
  const held = at
    .open()
    .readable()
    .find(({ digest }) => digest === record);
  assert.equal(held!.decisions?.length, 1);
});

test("only records of the wanted pipeline and profile are listed", () => {
  const at = state();
  at.put(3, { slot: { pipeline: "other", profile: "q", stage: "attempt" } });
  assert.deepEqual(listed(at, { pipeline: "p", profile: "q" }), { dollars: [1, 2], damaged: [] });
  assert.deepEqual(listed(at, { pipeline: "other", profile: "q" }), { dollars: [3], damaged: [] });
});
