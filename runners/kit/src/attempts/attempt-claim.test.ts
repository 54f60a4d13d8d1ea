import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { claimFile, giveToJob, heldClaim, stepClaim } from "./attempt-claim.ts";

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

test("the step of a job holds the attempt until another job gets it, whatever process supervises it", (t) => {
  const at = folder(t);
  giveToJob(at, "1");
  const holds = stepClaim(at, "1");
  writeFileSync(join(at, claimFile), '{"pid":2}');
  assert.equal(holds(), true);
  giveToJob(at, "2");
  assert.equal(holds(), false);
  assert.equal(stepClaim(at, "1")(), false, "a step that starts late");
  assert.equal(stepClaim(at, "2")(), true);
});
