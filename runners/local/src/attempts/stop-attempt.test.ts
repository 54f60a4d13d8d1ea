import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { tryLease } from "../leases/lease.ts";
import { thisProcess } from "../leases/owner.ts";
import { statePaths } from "../store/state-folder.ts";
import { exampleCard } from "../testing/example-record.ts";
import { attemptFolder, makeAttemptFolder } from "./attempt-folders.ts";
import { stopAttempt } from "./stop-attempt.ts";

const dead = { ...thisProcess(), pid: 2 ** 22 + 1, started: "1" };
const key = "a".repeat(64);

/** An attempt whose supervisor and run died, while another run holds its lease. */
function heldAttempt(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-stop-"));
  t.after(() => rmSync(root, { recursive: true }));
  const state = statePaths(root);
  for (const folder of [state.running, state.leases, state.logs]) mkdirSync(folder, { recursive: true });
  const gives = [{ name: "trajectory", file: "trajectory", kind: "file" as const }];
  const { path, name } = makeAttemptFolder(state.running, { ...exampleCard, key, gives, by: dead });
  mkdirSync(join(path, "attempt-x/sandbox-y/workspace"), { recursive: true });
  writeFileSync(
    join(path, "out/trajectory"),
    `${JSON.stringify({ ...exampleEvent("start"), kind: "llm" })}\n`,
  );
  writeFileSync(join(path, "supervisor.json"), JSON.stringify(dead));
  const lease = tryLease(state.leases, key) as { release(): void };
  const attempt = attemptFolder(state.running, name)!;
  assert.equal(attempt.state.kind, "resumable");
  const ended: string[] = [];
  const endJobs = async (of: string) => void ended.push(of);
  const options = { state, clearSandbox: async () => {}, endJobs, by: "a test" };
  const stop = (turnMs?: number) => stopAttempt(attempt, { ...options, ...(turnMs && { turnMs }) });
  return { path, lease, stop, ended };
}

test("a broken-off attempt is stopped only once the run that may continue it lets go", async (t) => {
  const { path, lease, stop } = heldAttempt(t);
  const stopping = stop();
  await sleep(250);
  assert.ok(existsSync(path), "the run may be starting a supervisor there");
  lease.release();
  const stopped = await stopping;
  assert.ok(stopped.kind === "quarantined");
  assert.deepEqual(stopped.cause, { kind: "stopped", detail: "a test" });
  assert.equal(existsSync(path), false);
});

test("a broken-off attempt that a run is about to continue is not stopped, and keeps no request to stop", async (t) => {
  const { path, stop } = heldAttempt(t);
  const stopped = await stop(50);
  assert.ok(stopped.kind === "refused");
  assert.match(stopped.why, /process \d+ on .* is about to continue it/);
  assert.deepEqual([existsSync(path), existsSync(join(path, "stop.json"))], [true, false]);
});

test("the jobs of a stopped attempt without a supervisor are ended before its folder moves, and only then", async (t) => {
  const { path, lease, stop, ended } = heldAttempt(t);
  lease.release();
  mkdirSync(join(path, "jobs/1"), { recursive: true });
  writeFileSync(join(path, "jobs/1/job.json"), "{}");
  assert.equal((await stop()).kind, "quarantined");
  assert.deepEqual(ended, [path]);
  const other = heldAttempt(t);
  other.lease.release();
  await other.stop();
  assert.deepEqual(other.ended, [], "it has no jobs");
});
