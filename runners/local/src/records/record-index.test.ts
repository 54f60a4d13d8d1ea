import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock, type TestContext, test } from "node:test";
import { Store } from "../store/artifact-store.ts";
import { stateFolder } from "../store/state-folder.ts";
import { VerifiedContents } from "../store/verified-contents.ts";
import { exampleRecord } from "../testing/example-record.ts";
import { AttemptRecords } from "./attempt-records.ts";
import { indexLine } from "./record-line.ts";

const slotOf = (stage: string) => ({ ...exampleRecord.slot, stage });

/** A state with an older and a newer attempt of one stage, and one of another stage. */
function state(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "record-index-"));
  t.after(() => rmSync(root, { recursive: true }));
  const { attempts, blobs, memory } = stateFolder(root);
  const open = () =>
    new AttemptRecords(attempts, { store: new Store(blobs), verified: new VerifiedContents(memory) });
  const put = (key: string, day: number, stage: string) =>
    open().put(
      {
        ...exampleRecord,
        ...{ attemptKey: key, slot: slotOf(stage) },
        ran: { ...exampleRecord.ran, startedAt: `2026-01-0${day}T00:00:00.000Z` },
      },
      "no log",
    );
  const digests = {
    old: put("1000", 1, "first"),
    new: put("2000", 2, "first"),
    other: put("3000", 3, "second"),
  };
  const index = join(attempts, "index.jsonl");
  return { open, digests, index, text: readFileSync(index, "utf8") };
}

type State = ReturnType<typeof state>;

/** What a new process finds, and what it says. */
function found({ open, digests }: State) {
  const said = mock.method(process.stderr, "write", () => true);
  try {
    const records = open();
    const names = new Map(Object.entries(digests).map(([name, digest]) => [digest, name]));
    const nameOf = (digest: string | undefined) => digest && names.get(digest);
    return {
      keys: ["1000", "2000", "3000", "4000"].map((key) => nameOf(records.find(key)?.digest)),
      slots: ["first", "second", "third"].map((stage) => nameOf(records.currentIn(slotOf(stage)))),
      said: said.mock.calls.map(({ arguments: [text] }) => String(text)),
    };
  } finally {
    said.mock.restore();
  }
}

const right = { keys: ["old", "new", "other", undefined], slots: ["new", "other", undefined] };

/** Changes of the lines, of which the first is of the old attempt. */
const changes: Record<string, (lines: string[], at: State) => string[]> = {
  "a digit of a key": ([a, b, c]) => [a!, b!.replace("2000", "4000"), c!],
  "the key of another attempt": ([a, b, c]) => [a!, b!.replace("2000", "3000"), c!],
  "the name of a stage": ([a, b, c]) => [a!, b!, c!.replace("second", "third")],
  "a date": ([a, b, c]) => [a!.replace("2026-01-01", "2027-01-01"), b!, c!],
  "the format of a newer version": ([a, b, c]) => [a!, b!.replace('"format":1', '"format":9'), c!],
  "the key's format of a newer version": ([a, b, c]) => [
    a!,
    b!.replace('"keyFormat":1', '"keyFormat":9'),
    c!,
  ],
  "the digest of another record": ([a, b, c], { digests }) => [
    a!,
    b!.replace(digests.new, digests.other),
    c!,
  ],
  "the digest of no record": ([a, b, c], { digests }) => [a!, b!.replace(digests.new, "f".repeat(64)), c!],
  "two keys that changed places": ([a, b, c]) => [a!.replace("1000", "2000"), b!.replace("2000", "1000"), c!],
  "a line more, of a key that no record has": (all) => [...all, all[0]!.replace("1000", "4000")],
  "a line more, of no format": (all) => [...all, '{"record":"x"}', "null", "[]", "7", '"text"'],
  "a torn line": ([a, b, c]) => [a!, b!.slice(0, 90), c!],
};

for (const [what, change] of Object.entries(changes))
  test(`the records decide where the index has ${what}: the line is dropped, once, with words`, (t) => {
    const at = state(t);
    const lines = change(at.text.trimEnd().split("\n"), at);
    writeFileSync(at.index, lines.map((line) => `${line}\n`).join(""));
    assert.notEqual(readFileSync(at.index, "utf8"), at.text);
    const { said, ...first } = found(at);
    assert.deepEqual(first, right);
    assert.match(said.join(""), /^dropped \d lines? of attempts\/index\.jsonl, [^\n]+\n$/);
    assert.deepEqual(found(at), { ...right, said: [] });
    const lineSet = (text: string) => text.split("\n").sort();
    assert.deepEqual(lineSet(readFileSync(at.index, "utf8")), lineSet(at.text));
  });

test("an index that lacks a line, and one of a removed record are read without words", (t) => {
  const at = state(t);
  const lines = at.text.trimEnd().split("\n");
  const { sum: _, ...first } = JSON.parse(lines[0]!);
  const gone = indexLine({ ...first, record: "f".repeat(64), key: "4000", slot: "p q third" });
  writeFileSync(at.index, `${gone}\n${lines[1]}\n`);
  assert.deepEqual(found(at), { ...right, said: [] });
});

test("a check of the records names a line that differs from its record, and the index is right again", (t) => {
  const at = state(t);
  assert.deepEqual(at.open().wrongLines(), []);
  const { sum: _, ...line } = JSON.parse(at.text.split("\n")[1]!);
  writeFileSync(at.index, `${at.text.replace(/.*2000.*\n/, "")}${indexLine({ ...line, key: "4000" })}\n`);
  assert.deepEqual(at.open().wrongLines(), [at.digests.new]);
  assert.deepEqual(found(at), { ...right, said: [] });
  assert.deepEqual(at.open().wrongLines(), []);
});
