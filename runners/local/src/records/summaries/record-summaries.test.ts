import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs, {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, mock, test } from "node:test";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { canonicalJson } from "@mlrb/kit/json-file";
import { Store } from "../../store/artifact-store.ts";
import { stateFolder } from "../../store/state-folder.ts";
import { VerifiedContents } from "../../store/verified-contents.ts";
import { exampleRecord } from "../../testing/example-record.ts";
import { addAdjudication } from "../adjudications.ts";
import { AttemptRecords } from "../attempt-records.ts";

const root = mkdtempSync(join(tmpdir(), "summaries-"));
after(() => rmSync(root, { recursive: true }));

/** A state folder with two recorded attempts, of 1 and of 2 dollars, and with their summaries. */
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
  const at = {
    ...{ folder, open, put },
    digests: [put(1), put(2)],
    fileOf: (digest: string) => join(folder.attempts, "records", digest, "record.json"),
    summaries: join(folder.attempts, "summaries.jsonl"),
  };
  open().summaries();
  return at;
}

type State = ReturnType<typeof state>;

/** The dollars of all records as a new process sums them, and how many records it opened. */
function listed({ open }: State, of?: { pipeline: string; profile: string }) {
  const real = fs.readFileSync;
  let opened = 0;
  const counting = mock.method(fs, "readFileSync", (...words: Parameters<typeof real>) => {
    if (String(words[0]).endsWith("record.json")) opened++;
    return real(...words);
  });
  syncBuiltinESMExports();
  const damaged: string[] = [];
  try {
    const found = open().summaries((_, { message }) => damaged.push(message), of);
    const dollars = found.map(({ record }) => record.cost.dollars).sort();
    return { dollars, opened, damaged };
  } finally {
    counting.mock.restore();
    syncBuiltinESMExports();
  }
}

test("no record is opened while none has changed", () => {
  assert.deepEqual(listed(state()), { dollars: [1, 2], opened: 0, damaged: [] });
});

test("a summary holds what lists show: also estimate and ledger, but no parts of the key", () => {
  const at = state();
  const kept = { digest: "d".repeat(64), file: "f" };
  const output = { kind: "file", ...kept } as const;
  const record: AttemptRecord = {
    ...exampleRecord,
    estimate: { gpuHours: 0, dollars: 0, timeMs: null, from: 0 },
    outputs: { submission: output, ledger: output, notes: output },
  };
  const text = `${canonicalJson(record, 2)}\n`;
  const digest = createHash("sha256").update(text).digest("hex");
  mkdirSync(join(at.fileOf(digest), ".."));
  writeFileSync(at.fileOf(digest), text);
  const { slot, axes, attemptKey, cost, ran, estimate } = record;
  for (const turn of ["read", "remembered"]) {
    const held = at
      .open()
      .summaries()
      .find((one) => one.digest === digest);
    const outputs = { submission: kept, ledger: kept };
    assert.deepEqual(held!.record, { slot, axes, attemptKey, cost, ran, estimate, outputs }, turn);
  }
});

test("a new record is opened once, and one of unknown cost stays unknown", () => {
  const at = state();
  at.put(null);
  assert.deepEqual(listed(at), { dollars: [1, 2, null], opened: 1, damaged: [] });
  assert.deepEqual(listed(at), { dollars: [1, 2, null], opened: 0, damaged: [] });
});

test("a removed record is not listed", () => {
  const at = state();
  rmSync(join(at.fileOf(at.digests[0]!), ".."), { recursive: true });
  assert.deepEqual(listed(at), { dollars: [2], opened: 0, damaged: [] });
});

test("a changed record of the same size and date is reported as damaged, not listed with its old cost", () => {
  const at = state();
  const path = at.fileOf(at.digests[0]!);
  const { atime, mtime } = statSync(path);
  writeFileSync(path, readFileSync(path, "utf8").replace('"dollars": 1', '"dollars": 7'));
  utimesSync(path, atime, mtime);
  const { dollars, opened, damaged } = listed(at);
  assert.deepEqual({ dollars, opened }, { dollars: [2], opened: 1 });
  assert.match(damaged.join(), /its record\.json was changed/);
});

test("a record that lost its record.json is reported as damaged", () => {
  const at = state();
  rmSync(at.fileOf(at.digests[0]!));
  assert.match(listed(at).damaged.join(), /record\.json cannot be read/);
});

test("a decision about a record is seen without opening the record", () => {
  const at = state();
  const [record] = at.digests;
  addAdjudication(at.folder.attempts, {
    ...{ record: record!, rule: "contamination", verdict: "pass", by: "a person", reason: "read it" },
    decidedAt: "2026-01-02T00:00:00.000Z",
  });
  const held = at
    .open()
    .summaries()
    .find(({ digest }) => digest === record);
  assert.equal(held!.decisions?.length, 1);
});

for (const [what, harm] of Object.entries<(at: State) => void>({
  missing: ({ summaries }) => rmSync(summaries),
  torn: ({ summaries }) => writeFileSync(summaries, readFileSync(summaries, "utf8").slice(0, -300)),
  changed: ({ summaries }) =>
    writeFileSync(summaries, readFileSync(summaries, "utf8").replaceAll('"dollars":', '"dollars":9')),
  "of another version": ({ summaries }) =>
    writeFileSync(
      summaries,
      readFileSync(summaries, "utf8").replaceAll('"formatVersion":2', '"formatVersion":1'),
    ),
}))
  test(`records are read again where their summaries are ${what}, and remembered`, () => {
    const at = state();
    harm(at);
    const { dollars, opened } = listed(at);
    assert.deepEqual(dollars, [1, 2]);
    assert.ok(opened > 0);
    assert.equal(listed(at).opened, 0);
  });

test("only records of the wanted pipeline and profile are opened", () => {
  const at = state();
  at.put(3, { slot: { pipeline: "other", profile: "q", stage: "attempt" } });
  assert.deepEqual(listed(at, { pipeline: "p", profile: "q" }), { dollars: [1, 2], opened: 0, damaged: [] });
  assert.deepEqual(listed(at, { pipeline: "other", profile: "q" }), { dollars: [3], opened: 1, damaged: [] });
});

test("the file stays short when stats change again and again", () => {
  const at = state();
  for (let turn = 1; turn < 6; turn++) {
    for (const digest of at.digests) utimesSync(at.fileOf(digest), turn, turn);
    assert.deepEqual(listed(at).dollars, [1, 2]);
  }
  const lines = readFileSync(at.summaries, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  assert.ok(lines.length <= 4, `${lines.length} lines`);
});

test("a summaries file that cannot be written ends no command", () => {
  const { open, digests, summaries } = state();
  rmSync(summaries, { force: true });
  mkdirSync(summaries);
  assert.deepEqual(
    open()
      .summaries()
      .map(({ digest }) => digest),
    [...digests].sort(),
  );
});
