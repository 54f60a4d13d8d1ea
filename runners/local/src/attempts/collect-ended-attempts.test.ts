import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { thisProcess } from "../leases/owner.ts";
import { exampleCard } from "../testing/example-record.ts";
import { attemptFolders, makeAttemptFolder } from "./attempt-folders.ts";
import { goingKeys } from "./collect-ended-attempts.ts";

function state(t: TestContext): { root: string; running: string; attempts: string } {
  const root = mkdtempSync(join(tmpdir(), "mlrb-going-"));
  t.after(() => rmSync(root, { recursive: true }));
  const running = join(root, ".mlrb/attempts/running");
  mkdirSync(running, { recursive: true });
  return { root, running, attempts: join(root, ".mlrb/attempts") };
}

test("an attempt whose supervisor dies while a run collects others is not restarted by that run", (t) => {
  const at = state(t);
  const dead = { ...thisProcess(), pid: 2 ** 22 + 1, started: "1" }; // above the highest pid of Linux
  makeAttemptFolder(at.running, { ...exampleCard, by: dead });
  assert.deepEqual(
    attemptFolders(at.running).map((attempt) => attempt.state.kind),
    ["lost"],
  );
  assert.deepEqual([...goingKeys({ state: at }, Date.now())], [exampleCard.key]);
});

test("an attempt on another host counts as running when the cost of a run is confirmed", (t) => {
  const at = state(t);
  makeAttemptFolder(at.running, { ...exampleCard, by: { ...thisProcess(), host: "gpu2" } });
  assert.deepEqual([...goingKeys({ state: at }, Date.now())], [exampleCard.key]);
});

test("an attempt that a living run still prepares is not counted as running", (t) => {
  const at = state(t);
  makeAttemptFolder(at.running, { ...exampleCard, by: thisProcess() });
  assert.deepEqual([...goingKeys({ state: at }, Date.now())], []);
});
