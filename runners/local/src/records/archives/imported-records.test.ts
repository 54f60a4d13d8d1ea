import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { actionKey } from "@mlrb/core/key/action-key";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { canonicalJson } from "@mlrb/kit/json-file";
import { Store } from "../../store/artifact-store.ts";
import { stateFolder } from "../../store/state-folder.ts";
import { VerifiedContents } from "../../store/verified-contents.ts";
import { exampleParts, exampleRecord } from "../../testing/example-record.ts";
import { AttemptRecords, type ImportEnd } from "../attempt-records.ts";
import { archiveDigest } from "./record-archive.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const now = new Date("2026-06-01T00:00:00Z");

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "imported-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A state folder, as each command opens it. */
function state(t: TestContext) {
  const at = stateFolder(folder(t));
  const open = () =>
    new AttemptRecords(at.attempts, {
      store: new Store(at.blobs),
      verified: new VerifiedContents(at.memory),
    });
  return {
    at,
    open,
    make: (record: AttemptRecord) => open().put(record, join(at.state, "no log")),
    import: (archive: string, digest: string, signedBy: string | null = null): ImportEnd =>
      open().import(
        join(archive, digest),
        digest,
        { archive: archiveDigest(archive), signedBy, signingKey: signedBy },
        now,
      ),
  };
}

/** A record of the slot with the day of its start and a key of its own parts. */
function recordOf({ day = 1, params = {} }: { day?: number; params?: object } = {}): AttemptRecord {
  const parts = { ...exampleParts, params: params as AttemptRecord["parts"]["params"] };
  const ran = { ...exampleRecord.ran, startedAt: `2026-01-0${day}T00:00:00.000Z` };
  return { ...exampleRecord, parts, attemptKey: actionKey(parts), ran };
}

/** Writes a record as another machine may export it, with a digest that fits. */
function exported(archive: string, record: object): string {
  return written(archive, `${canonicalJson(record, 2)}\n`);
}

function written(archive: string, text: string): string {
  const digest = sha256(text);
  mkdirSync(join(archive, digest), { recursive: true });
  writeFileSync(join(archive, digest, "record.json"), text);
  return digest;
}

const { slot } = exampleRecord;

test("a forged record with a later date does not become current; it is undecided until a person chooses", (t) => {
  const own = state(t);
  const archive = folder(t);
  const made = own.make(recordOf({ day: 1 }));
  const forged = exported(archive, recordOf({ day: 2 }));
  assert.equal(own.import(archive, forged).kind, "imported");
  const { attemptKey } = recordOf();
  const { attempts } = { attempts: own.open() };
  assert.equal(attempts.find(attemptKey)?.digest, made);
  assert.equal(attempts.inSlot(slot)?.digest, made);
  const search = attempts.search(attemptKey, slot);
  assert.ok(search.kind === "found");
  assert.deepEqual([search.held.digest, search.undecided], [made, [forged]]);

  attempts.choose(forged, attempts.competing({ digest: forged, record: attempts.read(forged) }), "now");
  assert.equal(own.open().find(attemptKey)?.digest, forged);
  assert.equal(own.open().currentIn(slot), forged);
  const again = own.open();
  again.choose(made, again.competing({ digest: made, record: again.read(made) }), "now");
  const back = own.open().search(attemptKey, slot);
  assert.ok(back.kind === "found");
  assert.deepEqual([back.held.digest, back.undecided], [made, []]);
});

test("an imported record of the plan's key is not used in place of an older attempt that was made here", (t) => {
  const own = state(t);
  const archive = folder(t);
  const made = own.make(recordOf({ day: 1, params: { old: 1 } }));
  const imported = exported(archive, recordOf({ day: 2 }));
  own.import(archive, imported);
  const search = own.open().search(recordOf().attemptKey, slot);
  assert.ok(search.kind === "undecided");
  assert.deepEqual([search.held?.digest, search.undecided], [made, [imported]]);
});

test("of two imported records none is used, with one key or from two archives", (t) => {
  for (const [first, second] of [
    [recordOf({ day: 1 }), recordOf({ day: 2 })],
    [recordOf({ day: 1 }), recordOf({ day: 2, params: { other: 1 } })],
  ] as const) {
    const own = state(t);
    const digests = [first, second].map((record) => {
      const archive = folder(t);
      const digest = exported(archive, record);
      assert.equal(own.import(archive, digest).kind, "imported");
      return digest;
    });
    const search = own.open().search(first.attemptKey, slot);
    assert.deepEqual(search, { kind: "undecided", undecided: [...digests].sort() });
  }
});

test("an archive with all versions of an attempt is used without a decision", (t) => {
  const own = state(t);
  const archive = folder(t);
  const old = exported(archive, recordOf({ day: 1, params: { old: 1 } }));
  const current = exported(archive, recordOf({ day: 2 }));
  for (const digest of [old, current]) own.import(archive, digest);
  const search = own.open().search(recordOf().attemptKey, slot);
  assert.ok(search.kind === "found");
  assert.deepEqual([search.held.digest, search.undecided], [current, []]);
  assert.equal(search.held.origin?.archive, archiveDigest(archive));
});

test("a record under another slot's name does not replace what was made in this slot", (t) => {
  const own = state(t);
  const archive = folder(t);
  const made = own.make(recordOf({ day: 1, params: { old: 1 } }));
  const imported = exported(archive, { ...recordOf({ day: 2 }), slot: { ...slot, stage: "other" } });
  own.import(archive, imported);
  const search = own.open().search(recordOf().attemptKey, slot);
  assert.ok(search.kind === "undecided");
  assert.equal(search.held?.digest, made);
});

test("a second import changes nothing, and what was made here never becomes imported", (t) => {
  const own = state(t);
  const archive = folder(t);
  const made = own.make(recordOf({ day: 1 }));
  assert.equal(exported(archive, recordOf({ day: 1 })), made);
  assert.deepEqual(own.import(archive, made), { kind: "here" });
  assert.equal(own.open().originOf(made), undefined);

  const other = folder(t);
  const imported = exported(other, recordOf({ day: 3 }));
  assert.equal(own.import(other, imported).kind, "imported");
  const before = own.open().originOf(imported);
  const index = readFileSync(join(own.at.attempts, "index.jsonl"), "utf8");
  assert.deepEqual(own.import(other, imported), { kind: "here" });
  assert.deepEqual(own.open().originOf(imported), before);
  assert.equal(readFileSync(join(own.at.attempts, "index.jsonl"), "utf8"), index);
  assert.equal(own.open().find(recordOf().attemptKey)?.digest, made);
});

test("the same archive with a signature names the signer of a record that was imported unsigned, never the reverse", (t) => {
  const own = state(t);
  const archive = folder(t);
  const digest = exported(archive, recordOf());
  own.import(archive, digest);
  own.import(archive, digest, "alice");
  assert.equal(own.open().originOf(digest)?.signedBy, "alice");
  own.import(archive, digest);
  assert.equal(own.open().originOf(digest)?.signedBy, "alice");
});

test("records and their origins are found without the index, and an unreadable origin still means imported", (t) => {
  const own = state(t);
  const archive = folder(t);
  const made = own.make(recordOf({ day: 1 }));
  const forged = exported(archive, recordOf({ day: 2 }));
  own.import(archive, forged);
  rmSync(join(own.at.attempts, "index.jsonl"));
  writeFileSync(join(own.at.attempts, "origins", `${forged}.json`), "torn");
  assert.equal(own.open().find(recordOf().attemptKey)?.digest, made);
  assert.deepEqual([own.open().originOf(forged)?.signedBy, own.open().originOf(made)], [null, undefined]);
});

test("a choice torn by a kill is no choice, and the next one is kept", (t) => {
  const own = state(t);
  const archive = folder(t);
  own.make(recordOf({ day: 1 }));
  const imported = exported(archive, recordOf({ day: 2 }));
  own.import(archive, imported);
  appendFileSync(join(own.at.attempts, "choices.jsonl"), `{"formatVersion":1,"record":"${imported}"`);
  const records = own.open();
  records.choose(imported, records.competing({ digest: imported, record: records.read(imported) }), "now");
  assert.equal(own.open().find(recordOf().attemptKey)?.digest, imported);
});

test("an imported record does not lower the expected cost of an attempt", (t) => {
  const own = state(t);
  const archive = folder(t);
  own.import(archive, exported(archive, { ...recordOf(), cost: { gpuHours: 0, dollars: 0 } }));
  assert.deepEqual(own.open().alike("attempt", {}), []);
  const made = own.make(recordOf({ day: 2 }));
  assert.deepEqual(
    own
      .open()
      .alike("attempt", {})
      .map(({ digest }) => digest),
    [made],
  );
});

/** Writes a record whose outputs are files of these texts. `wrong`: what the archive has in their place. */
function withOutputs(
  archive: string,
  texts: Record<string, string>,
  wrong: Record<string, string> = {},
): string {
  const outputs = Object.entries(texts).map(([name, text]) => [
    name,
    { kind: "file", digest: sha256(text), file: `${name}.json` },
  ]);
  const digest = exported(archive, { ...recordOf(), outputs: Object.fromEntries(outputs) });
  for (const [name, text] of Object.entries({ ...texts, ...wrong }))
    writeFileSync(join(archive, digest, `${name}.json`), text);
  return digest;
}

function sparse(path: string): void {
  writeFileSync(path, "");
  truncateSync(path, 2 ** 40);
}

/** Texts of the same record that are not its canonical text, each with the digest that fits. */
const otherTexts: Record<string, (text: string) => string> = {
  "indented by one": (text) => `${JSON.stringify(JSON.parse(text), null, 1)}\n`,
  "on one line": (text) => `${canonicalJson(JSON.parse(text))}\n`,
  "with a key twice": (text) => text.replace('  "axes": {},', '  "axes": {},\n  "axes": {},'),
  "with a key twice, of other values": (text) =>
    text.replace('"profile": "q"', '"profile": "x",\n    "profile": "q"'),
  "with keys in another order": (text) =>
    `${JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).reverse()), null, 2)}\n`,
  "without its last line break": (text) => text.trimEnd(),
  "with another space": (text) => `${text} `,
  "with line ends of Windows": (text) => text.replaceAll("\n", "\r\n"),
  "with another spelling of a number": (text) => text.replace('"durationMs": 1', '"durationMs": 1.0'),
  "with an escaped letter": (text) => text.replace('"local"', '"l\\u006fcal"'),
  "with a key that JavaScript treats as its own": (text) =>
    text.replace('"axes": {}', '"axes": {},\n  "__proto__": {}'),
};

const odd = (change: object) => (archive: string) => exported(archive, { ...recordOf(), ...change });
const estimate = { gpuHours: 1, dollars: 1, timeMs: 1, from: 1 };
const ledger = (dollars: number) => JSON.stringify({ gpuHours: 1, dollars });

/** Amounts that no attempt has. */
const oddAmounts: Record<string, (archive: string) => string> = {
  "dollars below 0": odd({ cost: { gpuHours: 1, dollars: -999.98 } }),
  "GPU hours below 0": odd({ cost: { gpuHours: -0.01, dollars: 1 } }),
  "a billion dollars": odd({ cost: { gpuHours: 1, dollars: 1e9 } }),
  "10^300 GPU hours": odd({ cost: { gpuHours: 1e300, dollars: null } }),
  "an expected cost below 0": odd({ estimate: { ...estimate, dollars: -1 } }),
  "an expected time of 10^300 ms": odd({ estimate: { ...estimate, timeMs: 1e300 } }),
  "extensions by 10^15 ms": odd({
    interventions: { extensions: 1, addedMs: 1e15, addedDollars: 0 },
  }),
  "extensions by a billion dollars": odd({
    interventions: { extensions: 1, addedMs: 0, addedDollars: 1e9 },
  }),
  "a duration below 0": odd({ ran: { ...exampleRecord.ran, durationMs: -1 } }),
  "a duration of 10^15 ms": odd({ ran: { ...exampleRecord.ran, durationMs: 1e15 } }),
  "a ledger of a billion dollars": (archive) => withOutputs(archive, { ledger: ledger(1e9) }),
};

const refusals: Record<string, [(archive: string) => string, RegExp]> = {
  ...Object.fromEntries(
    Object.entries(otherTexts).map(([how, change]) => [
      `a record.json ${how}`,
      [
        (archive: string) => {
          const text = `${canonicalJson(recordOf(), 2)}\n`;
          assert.notEqual(change(text), text);
          return written(archive, change(text));
        },
        /^its record\.json is not in the form in which records are written$/,
      ],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(oddAmounts).map(([what, forge]) => [what, [forge, /, which no attempt has$/]]),
  ),
  "a start with a comment that is a path": [
    odd({ ran: { ...exampleRecord.ran, startedAt: "Thu, 01 Jan 2026 00:00:00 GMT (/../../x)" } }),
    /is not a date$/,
  ],
  "a log of a TiB that takes no space": [
    (archive) => {
      const digest = exported(archive, recordOf());
      sparse(join(archive, digest, "log"));
      return digest;
    },
    /^its log: 1099511627776 bytes; at most \d+ are read/,
  ],
  "decisions of a TiB that take no space": [
    (archive) => {
      const digest = odd({ cost: { gpuHours: -1, dollars: null } })(archive);
      sparse(join(archive, "adjudications.jsonl"));
      return digest;
    },
    /which no attempt has$/,
  ],
  "an output of a TiB that takes no space": [
    (archive) => {
      const digest = withOutputs(archive, { model: "weights" });
      sparse(join(archive, digest, "model.json"));
      return digest;
    },
    /^it takes 1\.0 TiB with the others, more than/,
  ],
  "an output that differs, after one that does not": [
    (archive) => withOutputs(archive, { a: "sound", b: "sound too" }, { b: "other" }),
    /^its b is not what its record says$/,
  ],
  "a key that is not the key of its parts": [
    (archive) =>
      exported(archive, { ...recordOf(), attemptKey: recordOf({ params: { other: 1 } }).attemptKey }),
    /^its key is not the key of its parts$/,
  ],
  "a start in the future": [
    (archive) =>
      exported(archive, { ...recordOf(), ran: { ...exampleRecord.ran, startedAt: "2999-01-01T00:00:00Z" } }),
    /^its start, 2999-01-01T00:00:00Z, is in the future; compare the clocks of both machines$/,
  ],
  "a start that is no date": [
    (archive) => exported(archive, { ...recordOf(), ran: { ...exampleRecord.ran, startedAt: "\u{10ffff}" } }),
    /is not a date$/,
  ],
  "a text that is not what its name says": [
    (archive) => {
      const digest = exported(archive, recordOf());
      appendFileSync(join(archive, digest, "record.json"), " ");
      return digest;
    },
    /^its record is not what its name says$/,
  ],
  "an output called record.json": [
    (archive) => {
      const output = { kind: "file", digest: sha256("forged"), file: "record.json" };
      return exported(archive, { ...recordOf(), outputs: { submission: output } });
    },
    /^two of its files are called record\.json$/,
  ],
  "a log that is a link": [
    (archive) => {
      const digest = exported(archive, recordOf());
      writeFileSync(join(archive, "secret"), "a private key");
      symlinkSync(join(archive, "secret"), join(archive, digest, "log"));
      return digest;
    },
    /^its log is not a plain file$/,
  ],
  "a record.json that is a link": [
    (archive) => {
      const digest = exported(archive, recordOf());
      cpSync(join(archive, digest, "record.json"), join(archive, "real.json"));
      rmSync(join(archive, digest, "record.json"));
      symlinkSync(join(archive, "real.json"), join(archive, digest, "record.json"));
      return digest;
    },
    /^its record\.json is not a plain file$/,
  ],
  "a file in place of a record's folder": [
    (archive) => {
      const digest = "a".repeat(64);
      writeFileSync(join(archive, digest), "no folder");
      return digest;
    },
    /./,
  ],
};

for (const [what, [forge, problem]] of Object.entries(refusals))
  test(`${what} is refused, and nothing of the record stays`, (t) => {
    const own = state(t);
    const archive = folder(t);
    const digest = forge(archive);
    const end = own.import(archive, digest);
    assert.ok(end.kind === "refused", end.kind);
    assert.match(end.problem, problem);
    assert.deepEqual(own.open().list(), []);
    assert.equal(own.open().originOf(digest), undefined);
    assert.equal(own.open().find(recordOf().attemptKey), undefined);
    for (const folder of [own.at.blobs, own.at.attempts]) assert.deepEqual(filesIn(folder), [], "its files");
  });

test("a forged text of the same attempt leaves the attempt that was made here as it was", (t) => {
  for (const change of Object.values(otherTexts)) {
    const [own, archive] = [state(t), folder(t)];
    const made = own.make(recordOf({ day: 1 }));
    const before = filesIn(own.at.attempts);
    const digest = written(archive, change(`${canonicalJson(recordOf({ day: 2 }), 2)}\n`));
    assert.equal(own.import(archive, digest).kind, "refused");
    const records = own.open();
    assert.deepEqual([records.list(), records.find(recordOf().attemptKey)?.digest], [[made], made]);
    assert.deepEqual(filesIn(own.at.attempts), before);
  }
});

test("what an attempt may have is imported: no cost, a small one and the cost of a cluster's year", (t) => {
  for (const change of [
    { cost: { gpuHours: 0, dollars: null } },
    { cost: { gpuHours: 0.1, dollars: 43.21 }, estimate: { ...estimate, gpuHours: null, timeMs: null } },
    { cost: { gpuHours: 8 * 24 * 365, dollars: 200_000 } },
  ])
    for (const text of [ledger(12), JSON.stringify({ none: "no attempt" }), "no ledger"]) {
      const [own, archive] = [state(t), folder(t)];
      const outputs = { ledger: { kind: "file", digest: sha256(text), file: "ledger.json" } };
      const digest = exported(archive, { ...recordOf(), ...change, outputs });
      writeFileSync(join(archive, digest, "ledger.json"), text);
      writeFileSync(join(archive, digest, "log"), "said\n");
      assert.deepEqual(own.import(archive, digest), { kind: "imported" });
    }
});

/** Paths of files below a folder. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name);
}

test("an archive's digest covers records and logs", (t) => {
  const archive = folder(t);
  const digest = exported(archive, recordOf());
  const seen = [archiveDigest(archive)];
  writeFileSync(join(archive, digest, "log"), "a log");
  seen.push(archiveDigest(archive));
  writeFileSync(join(archive, digest, "log"), "another log");
  seen.push(archiveDigest(archive));
  exported(archive, recordOf({ day: 2 }));
  seen.push(archiveDigest(archive));
  assert.equal(new Set(seen).size, 4);
  assert.equal(readdirSync(archive).length, 2);
  assert.equal(archiveDigest(archive), seen[3]);
});

test("a declined record is never taken for a missing one: elsewhere, or without the chosen one, a person decides again", (t) => {
  const own = state(t);
  const archive = folder(t);
  const chosen = exported(archive, recordOf({ day: 1, params: { old: 1 } }));
  const declined = exported(archive, recordOf({ day: 2 }));
  for (const digest of [chosen, declined]) own.import(archive, digest);
  own.open().choose(chosen, [declined], "now");
  const { attemptKey } = recordOf();
  const undecided = { kind: "undecided", undecided: [declined] };

  const here = own.open().search(attemptKey, slot);
  assert.ok(here.kind === "stale", "the choice holds in its slot");
  assert.equal(here.held.digest, chosen);
  assert.deepEqual(own.open().search(attemptKey, { ...slot, stage: "other" }), undecided);

  rmSync(join(own.at.attempts, "records", chosen), { recursive: true });
  assert.deepEqual(own.open().search(attemptKey, slot), undecided);
});
