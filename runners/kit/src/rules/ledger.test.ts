import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Ledger, readLedger } from "./ledger.ts";

const records = join(import.meta.dirname, "../../../../tests/fixtures/records-5ceb805/golden/records");
const old = globSync("*/ledger.json", { cwd: records }).map((path) => join(records, path));

test("a ledger of before the busy time of GPUs was measured is valid, and does not know it", () => {
  assert.ok(old.length > 0);
  for (const path of old) {
    assert.equal("gpuBusyMs" in JSON.parse(readFileSync(path, "utf8")), false);
    const ledger = readLedger(path) as Ledger;
    assert.equal(ledger.gpuBusyMs, null, JSON.stringify(ledger));
    assert.ok(ledger.wallMs >= ledger.workingMs);
  }
});

test("a busy time that is no duration makes no ledger", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "ledger-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "ledger.json");
  const read = (gpuBusyMs: unknown) => {
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(old[0]!, "utf8")), gpuBusyMs }));
    return readLedger(path);
  };
  for (const odd of [-1, "much", {}])
    assert.equal(read(odd), "the ledger's busy time of GPUs is no duration");
  assert.equal((read(1500) as Ledger).gpuBusyMs, 1500);
});
