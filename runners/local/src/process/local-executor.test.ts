import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ExecutionRequest, Running } from "@mlrb/core/ports/executor";
import { localExecutor } from "./local-executor.ts";

/** Starts a command; `log` is its text so far. */
function started(t: TestContext, command: string[], limits: ExecutionRequest["limits"] = {}, ranMs = 0) {
  const work = mkdtempSync(join(tmpdir(), "mlrb-executor-"));
  t.after(() => rmSync(work, { recursive: true }));
  const executor = localExecutor(work, { graceMs: 100 });
  t.after(() => executor.close?.());
  const running: Running = executor.start({
    ...{
      id: "one",
      key: "k",
      token: `mlrb-test-${work}:`,
      run: { kind: "command", command },
      root: work,
      work,
    },
    ...{ env: { PATH: process.env.PATH! }, inputs: {}, outputs: {}, log: join(work, "log"), limits },
    ...{ ranMs, cpus: 1, gpus: [], reads: [], writes: [] },
  });
  return {
    running,
    log: () => (existsSync(join(work, "log")) ? readFileSync(join(work, "log"), "utf8") : ""),
  };
}

test("a command that ends with 0 succeeds", async (t) => {
  assert.deepEqual(await started(t, ["true"]).running.ended, { kind: "succeeded" });
});

test("time that earlier jobs of an attempt took is part of its limit", async (t) => {
  const begin = performance.now();
  const limits = { timeMs: 3_600_000 };
  const ended = await started(t, ["sleep", "60"], limits, 3_600_000 - 200).running.ended;
  assert.deepEqual(ended, { kind: "failed", cause: "time-limit", detail: "did not end within 1 h 0 m" });
  assert.ok(performance.now() - begin < 10_000);
});

test("a command that ends with another status fails", async (t) => {
  const detail = "exit status 3";
  const ended = await started(t, ["sh", "-c", "exit 3"]).running.ended;
  assert.deepEqual(ended, { kind: "failed", cause: "exit-code", detail });
});

test("a command that exceeds its time limit is ended, and its log says so", async (t) => {
  const { running, log } = started(t, ["sleep", "300"], { timeMs: 50 });
  const detail = "did not end within 50 ms";
  assert.deepEqual(await running.ended, { kind: "failed", cause: "time-limit", detail });
  assert.equal(log(), `mlrb: ${detail} (limits.time) and was ended\n`);
});

test("a command that is asked to end before its process exists is cancelled", async (t) => {
  const { running } = started(t, ["sleep", "300"]);
  running.askToEnd();
  assert.deepEqual(await running.ended, { kind: "cancelled" });
});

test("a command that ignores the request to end is killed after the grace period", async (t) => {
  const { running, log } = started(t, ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"]);
  while (!log().includes("ready")) await new Promise((resolve) => setTimeout(resolve, 20));
  running.askToEnd();
  assert.deepEqual(await running.ended, { kind: "cancelled" });
});
