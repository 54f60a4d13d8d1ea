import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { readLedger } from "./ledger.ts";

const records = join(import.meta.dirname, "../../../../tests/fixtures/records/golden/records");
const kept = globSync("*/ledger.json", { cwd: records }).map((path) => join(records, path));

test("the ledgers of kept records are valid", () => {
  assert.ok(kept.length > 0);
  for (const path of kept) assert.equal(typeof readLedger(path), "object", String(readLedger(path)));
});

test("a malformed ledger gives a reason that names the field", (t) => {
  const read = readerOf(t);
  const whole = JSON.parse(readFileSync(kept[0]!, "utf8"));
  const broken = (changes: object) => read({ ...whole, ...changes });
  const cause = (text: string) => `the ledger does not follow its format: ${text}`;
  assert.equal(broken({ gpuBusyMs: -1 }), cause("gpuBusyMs is -1: it must be >= 0"));
  assert.equal(broken({ gpuBusyMs: "much" }), cause('gpuBusyMs is "much", not a finite number or null'));
  assert.equal(broken({ formatVersion: 2 }), cause("formatVersion is 2, not 1"));
  assert.match(String(broken({ ended: "well" })), /format: ended is "well", not one of finished, /);
  assert.equal(broken({ submission: {} }), cause("submission.digest is missing"));
  assert.equal(read([]), cause("the file is a list, not an object"));
  assert.equal(read({ none: "x".repeat(300) }), "x".repeat(200), "of a submission that no agent made");
  assert.equal(read({ long: "x".repeat(1 << 20) }), "the ledger is larger than 1 MiB");
  assert.equal((broken({ gpuBusyMs: 1500 }) as Ledger).gpuBusyMs, 1500);
});

test("a pipe in place of a ledger is not JSON, and nobody waits for it", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "ledger-"));
  t.after(() => rmSync(folder, { recursive: true }));
  execFileSync("mkfifo", [join(folder, "ledger.json")]);
  assert.equal(readLedger(join(folder, "ledger.json")), "the ledger cannot be read: not JSON");
});

function readerOf(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "ledger-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "ledger.json");
  return (value: unknown) => {
    writeFileSync(path, JSON.stringify(value));
    return readLedger(path);
  };
}
