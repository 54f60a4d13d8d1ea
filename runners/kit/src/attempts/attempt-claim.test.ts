import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { claimFile, heldClaim } from "./attempt-claim.ts";

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "mlrb-claim-"));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

test("a claim is lost once it is removed or names another process", (t) => {
  const at = folder(t);
  writeFileSync(join(at, claimFile), '{"pid":1}');
  const holds = heldClaim(at);
  assert.equal(holds(), true);
  rmSync(join(at, claimFile));
  assert.equal(holds(), false);
  writeFileSync(join(at, claimFile), '{"pid":2}');
  assert.equal(holds(), false);
});

test("an attempt without a supervisor has no claim to lose", (t) => {
  const at = folder(t);
  const holds = heldClaim(at);
  writeFileSync(join(at, claimFile), '{"pid":2}');
  assert.equal(holds(), true);
});
