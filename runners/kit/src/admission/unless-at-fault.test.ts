import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Admission } from "@mlrb/formats/judged/admission";
import { admit } from "./admit-submission.ts";
import { unlessAtFault } from "./unless-at-fault.ts";

const root = mkdtempSync(join(tmpdir(), "mlrb-unless-at-fault-"));
after(() => rmSync(root, { recursive: true }));

const admitted: Admission = { formatVersion: 1, admitted: true, reasons: [] };
const coded = (code: string) => Object.assign(new Error(code), { code });

/** `fail` throws for the submission, and `failGood` for any other folder. */
function judged(fail: (folder: string) => void, failGood: () => void = () => {}) {
  const to = mkdtempSync(join(root, "to-"));
  const folder = join(root, "submission");
  mkdirSync(folder, { recursive: true });
  const found = () =>
    unlessAtFault(folder, [to], (at, [clean]) => {
      writeFileSync(join(clean!, "part"), at);
      if (at === folder) fail(at);
      else {
        assert.equal(admit(at).admitted, true);
        failGood();
      }
      return admitted;
    });
  return { found, to };
}

function throws(error: unknown): () => never {
  return () => {
    throw error;
  };
}

for (const error of [
  new RangeError("deep"),
  new TypeError("odd"),
  coded("ENAMETOOLONG"),
  coded("EACCES"),
  "text",
])
  test(`${error} on a submission alone is a rejection without any output, whatever was written before`, () => {
    const { found, to } = judged(throws(error));
    const { admitted, reasons } = found();
    assert.equal(admitted, false);
    assert.equal(reasons[0]!.code, "unreadable");
    assert.match(reasons[0]!.detail, /known-good one can: .*(deep|odd|ENAMETOOLONG|EACCES|text)/);
    assert.deepEqual(readdirSync(to), []);
  });

test("the words of a rejection name no folder of this machine", () => {
  const { found, to } = judged((at) => throws(new Error(`open '${at}/a', copy '${to}/b'`))());
  assert.match(found().reasons[0]!.detail, /open 'submission\/a', copy 'submission\/b'$/);
});

test("an error that does not come again is no rejection", () => {
  let tries = 0;
  const { found, to } = judged(() => (tries++ === 0 ? throws(new Error("once"))() : undefined));
  assert.deepEqual(found(), admitted);
  assert.ok(existsSync(join(to, "part")));
});

test("where a known-good submission fails too, the error is thrown", () => {
  const { found } = judged(throws(new TypeError("ours")), throws(new TypeError("ours")));
  assert.throws(found, /TypeError: ours\n {2}help: a known-good submission fails too: TypeError: ours/);
});

for (const code of ["ENOSPC", "EIO", "EMFILE", "EDQUOT", "ENOMEM"])
  test(`${code} is the machine's at once`, () => {
    const { found } = judged(throws(coded(code)), () => assert.fail("no good one is tried"));
    assert.throws(found, { code });
  });
