import assert from "node:assert/strict";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Adjudication } from "@mlrb/formats/attempt/adjudication";
import {
  addAdjudication,
  adjudicationsFile,
  exportAdjudications,
  importAdjudications,
  knowsAdjudications,
  readAdjudications,
  unexported,
} from "./adjudications.ts";
import { archiveDigest } from "./archives/record-archive.ts";

const record = "a".repeat(64);
const decision: Omit<Adjudication, "formatVersion"> = {
  ...{ record, rule: "from-scratch", verdict: "pass", by: "Ada", reason: "its own weights" },
  decidedAt: "2026-01-01T00:00:00.000Z",
};
const from = { archive: "b".repeat(64), signedBy: null, signingKey: null };

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "adjudications-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Imports an archive with these lines into `attempts`. */
function imported(attempts: string, archive: string, more: { prefer?: boolean; signedBy?: string } = {}) {
  const { prefer = false, signedBy = null } = more;
  return importAdjudications(attempts, archive, {
    from: { ...from, signedBy, signingKey: signedBy },
    held: new Set([record]),
    origins: () => undefined,
    prefer,
  });
}

test("decisions are only added, also after a line that a kill tore", (t) => {
  const attempts = folder(t);
  addAdjudication(attempts, decision);
  const before = readFileSync(join(attempts, adjudicationsFile), "utf8");
  appendFileSync(join(attempts, adjudicationsFile), '{"formatVersion":1,"record":"');
  addAdjudication(attempts, { ...decision, verdict: "fail" });
  assert.ok(readFileSync(join(attempts, adjudicationsFile), "utf8").startsWith(before));
  assert.deepEqual(
    readAdjudications(attempts)
      .get(record)!
      .map(({ verdict }) => verdict),
    ["pass", "fail"],
  );
});

test("an archive carries the decisions on its records once, and the import notes their origin", (t) => {
  const [here, there, archive] = [folder(t), folder(t), folder(t)];
  addAdjudication(here, decision);
  addAdjudication(here, { ...decision, record: "c".repeat(64) });
  for (const _ of [1, 2]) exportAdjudications(archive, unexported(here, { to: archive, records: [record] }));
  assert.deepEqual(imported(there, archive), { imported: 1, problems: [] });
  assert.deepEqual(imported(there, archive), { imported: 0, problems: [] });
  assert.deepEqual(readAdjudications(there).get(record), [{ formatVersion: 1, ...decision, origin: from }]);
  assert.equal(imported(there, archive, { signedBy: "eve" }).imported, 1, "a signature is added");
  assert.equal(imported(there, archive, { prefer: true }).imported, 1, "and a preference");
  // passed on, the decision has no origin of its own: the next archive is its origin
  const next = folder(t);
  exportAdjudications(next, unexported(there, { to: next, records: [record] }));
  assert.equal(
    readFileSync(join(next, adjudicationsFile), "utf8"),
    readFileSync(join(archive, adjudicationsFile), "utf8"),
  );
  assert.equal(imported(here, next).imported, 0, "a decision made here stays one");
});

test("a forged file of decisions costs only its bad lines, and cannot claim to be made or preferred here", (t) => {
  const [attempts, archive] = [folder(t), folder(t)];
  const line = (more: object) => JSON.stringify({ formatVersion: 1, ...decision, ...more });
  const bad = [
    "{",
    "[]",
    line({ verdict: "undecided" }),
    line({ by: "" }),
    line({ reason: "x".repeat(1001) }),
    line({ formatVersion: 2 }),
    line({ record: "../../etc" }),
    line({ record: "d".repeat(64) }),
  ];
  const lines = [...bad, line({ preferred: true, origin: undefined, __proto__: { by: "root" } })];
  writeFileSync(join(archive, adjudicationsFile), `${lines.join("\n")}\n`);
  const found = imported(attempts, archive);
  assert.deepEqual([found.imported, found.problems.length], [1, bad.length]);
  assert.match(
    found.problems.at(-1)!,
    /^adjudications\.jsonl, line 8: it is on dddddddddddd, which was not imported$/,
  );
  const [held] = readAdjudications(attempts).get(record)!;
  assert.deepEqual([held!.origin, held!.preferred], [from, undefined]);
});

test("a link, a folder and a huge file are refused unread", (t) => {
  const attempts = folder(t);
  const secret = join(folder(t), "secret");
  writeFileSync(secret, `${JSON.stringify({ formatVersion: 1, ...decision })}\n`);
  const [linked, nested, huge] = [folder(t), folder(t), folder(t)];
  symlinkSync(secret, join(linked, adjudicationsFile));
  mkdirSync(join(nested, adjudicationsFile));
  writeFileSync(join(huge, adjudicationsFile), Buffer.alloc((16 << 20) + 1));
  for (const archive of [linked, nested, huge]) {
    const { imported: count, problems } = imported(attempts, archive);
    assert.deepEqual([count, problems.length], [0, 1]);
  }
  assert.equal(readAdjudications(attempts).size, 0);
});

test("an archive's digest covers its decisions, and an archive without any has the digest of before", (t) => {
  const archive = folder(t);
  const before = archiveDigest(archive);
  const former = "cbc830a042f0824a3acf37aecded110cd2e5f73e33ccf82279f37158e34d1831"; // of {"formatVersion":1,"records":{}}
  assert.equal(before, former);
  exportAdjudications(archive, [{ formatVersion: 1, ...decision }]);
  const decided = archiveDigest(archive);
  assert.notEqual(decided, before);
  exportAdjudications(archive, [{ formatVersion: 1, ...decision, verdict: "fail" }]);
  assert.notEqual(archiveDigest(archive), decided);
});

test("a machine knows an archive's decisions only if it has each of them", (t) => {
  const [attempts, archive] = [folder(t), folder(t)];
  assert.ok(knowsAdjudications(attempts, archive));
  exportAdjudications(archive, [{ formatVersion: 1, ...decision }]);
  assert.ok(!knowsAdjudications(attempts, archive));
  addAdjudication(attempts, decision);
  assert.ok(knowsAdjudications(attempts, archive));
});
