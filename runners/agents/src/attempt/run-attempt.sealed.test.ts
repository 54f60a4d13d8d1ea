// An attempt that receives a signal to end is sealed in bounded time, whatever hangs: a sandbox that does not end,
// a submission without an end, a stage that ignores the signal. By the clock of the budget, not by the machine's.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { sealTimes } from "@mlrb/kit/processes/seal-times";
import { fakeSandbox } from "../testing/fake-sandbox.ts";
import { Interrupted } from "./interruption.ts";
import { runAttempt } from "./run-attempt.ts";

const never = () => new Promise<never>(() => {});
const turns = async () => {
  for (let at = 0; at < 50; at++) await turn();
};

/** An attempt that is interrupted; resolves when its program runs. */
async function interrupted(t: TestContext, hangs: Partial<Sandbox>) {
  const folder = mkdtempSync(join(tmpdir(), "sealed-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => join(folder, name);
  for (const name of ["data", "scratch", "submission"]) mkdirSync(at(name));
  const outputs = {
    submission: at("submission"),
    trajectory: at("trajectory.jsonl"),
    ledger: at("ledger.json"),
    snapshots: at("snapshots"),
  };
  const ending = new AbortController();
  const { promise: runs, resolve } = Promise.withResolvers<void>();
  const exec = () => {
    resolve();
    return never();
  };
  const running = runAttempt(
    { ...fakeSandbox(exec), ...hangs },
    {
      ...{ task: "some-task", agent: "test", seed: 7, kind: "command", command: ["sh"], prompt: "Begin.\n" },
      ...{ publicData: at("data"), budget: { timeMs: 2_000 }, outputs, scratch: at("scratch") },
      ...{ limits: { bytesMax: 1 << 20, filesMax: 100 }, interrupted: ending.signal },
    },
  );
  await Promise.race([runs, running]);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  ending.abort(new Interrupted("SIGTERM"));
  return { running, outputs };
}

test("an attempt whose sandbox and copy both hang is sealed before its stage ends", async (t) => {
  const { running, outputs } = await interrupted(t, { kill: never, snapshot: never });
  const over = assert.rejects(running, Interrupted);
  t.mock.timers.tick(sealTimes.begin);
  await turns();
  t.mock.timers.tick(sealTimes.copied - sealTimes.begin);
  await over;
  const ledger = JSON.parse(readFileSync(outputs.ledger, "utf8")) as Ledger;
  assert.equal(ledger.ended, "interrupted");
  assert.match(ledger.submission.overLimits!, /not copied completely in the time that was left/);
  const checked = await verifyTrajectory(outputs.trajectory, ledger.trajectory);
  assert.deepEqual([checked.kind, "complete" in checked && checked.complete], ["intact", true]);
});

test("hanging work that continues later adds nothing to a sealed attempt", async (t) => {
  const { promise: killed, resolve: end } = Promise.withResolvers<void>();
  const { running, outputs } = await interrupted(t, { kill: () => killed });
  const over = assert.rejects(running, Interrupted);
  t.mock.timers.tick(sealTimes.begin);
  await over;
  const sealed = readFileSync(outputs.trajectory, "utf8");
  end();
  await turns();
  assert.equal(readFileSync(outputs.trajectory, "utf8"), sealed);
});

test("the steps of an ending come one after the other, and the last leaves a second to report the cause", () => {
  const { begin, copied, exit, kill, promised } = sealTimes;
  assert.deepEqual(
    [begin, copied, exit, kill].toSorted((a, b) => a - b),
    [begin, copied, exit, kill],
  );
  assert.ok(kill + 1000 <= promised && promised <= 5000);
});
