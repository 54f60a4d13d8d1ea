import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { heldClaim } from "@mlrb/kit/attempts/attempt-claim";
import type { Clock } from "../leases/heartbeat.ts";
import { tryLease } from "../leases/lease.ts";
import { exampleCard } from "../testing/example-record.ts";
import { attemptFolder, attemptFolders, attemptOf, makeAttemptFolder } from "./attempt-folders.ts";
import { attemptsElsewhere, beatOf, takeFromHost, whileElsewhere } from "./attempts-elsewhere.ts";
import { lostCause } from "./lost-words.ts";

const there = { host: "gpu2", boot: "b", pid: 17, started: "5" };
const key = "a".repeat(64);

/** An attempt of a model under a supervisor on another host. */
function scene(t: TestContext) {
  const above = mkdtempSync(join(tmpdir(), "mlrb-elsewhere-"));
  t.after(() => rmSync(above, { recursive: true }));
  const [running, leases] = [join(above, "attempts/running"), join(above, "leases")];
  for (const folder of [running, leases]) mkdirSync(folder, { recursive: true });
  const gives = [{ name: "trajectory", file: "trajectory", kind: "file" as const }];
  const { path, name } = makeAttemptFolder(running, { ...exampleCard, key, gives, by: there });
  mkdirSync(join(path, "attempt-x/sandbox-y/workspace"), { recursive: true });
  const start = { ...exampleEvent("start"), kind: "llm" };
  writeFileSync(join(path, "out/trajectory"), `${JSON.stringify(start)}\n`);
  const claim = join(path, "supervisor.json");
  writeFileSync(claim, JSON.stringify(there));
  utimesSync(claim, 1_000, 1_000);
  const [attempt] = attemptsElsewhere(running);
  return { running, leases, path, name, claim, attempt: attempt! };
}

/** Passes a second with every sleep. */
function fakeClock(each: (ms: number) => void): Clock & { ms: number } {
  const time = {
    ms: 0,
    now: () => time.ms,
    sleep: async (ms: number) => {
      time.ms += ms;
      each(time.ms);
    },
  };
  return time;
}

test("an attempt whose supervisor beats is waited for until it has ended", async (t) => {
  const { running, attempt, claim, path } = scene(t);
  assert.equal(attemptOf(key, { state: { running } })?.state.kind, "elsewhere");
  const clock = fakeClock((ms) => {
    utimesSync(claim, ms, ms);
    if (ms === 500_000)
      writeFileSync(
        join(path, "end.json"),
        '{"formatVersion":1,"result":{"kind":"succeeded"},"durationMs":1}',
      );
  });
  assert.equal(await whileElsewhere(attempt, running, { clock }), undefined);
  assert.equal(clock.ms, 500_000);
});

test("an attempt whose supervisor has not beaten for a minute is silent, and names its owner", async (t) => {
  const { running, attempt, claim } = scene(t);
  const clock = fakeClock((ms) => ms <= 10_000 && utimesSync(claim, ms, ms));
  const silent = await whileElsewhere(attempt, running, { clock });
  assert.deepEqual([silent?.silent, silent?.silentMs, clock.ms], [there, 60_000, 70_000]);
});

test("an attempt that is taken from its host can continue here, costs up to its last heartbeat, and its first supervisor has lost its claim", (t) => {
  const { leases, running, attempt, path, name, claim } = scene(t);
  const isFirsts = heldClaim(path);
  assert.equal(takeFromHost(attempt, beatOf(attempt), { leases }), true);
  assert.deepEqual(attemptFolder(running, name)?.state, {
    kind: "resumable",
    supervisor: { ...there, gone: true },
  });
  assert.deepEqual(lostCause(path), { kind: "host-gone", detail: "gpu2" });
  assert.equal(statSync(claim).mtimeMs, 1_000_000);
  assert.equal(isFirsts(), false);
  assert.deepEqual(readdirSync(leases), []);
});

test("an attempt is not taken from its host if its supervisor has beaten since, or another run holds its lease", (t) => {
  const { leases, running, attempt, claim } = scene(t);
  const beat = beatOf(attempt);
  const lease = tryLease(leases, key) as { release(): void };
  assert.equal(takeFromHost(attempt, beat, { leases }), false);
  lease.release();
  utimesSync(claim, 1_002, 1_002);
  assert.equal(takeFromHost(attempt, beat, { leases }), false);
  assert.deepEqual(
    attemptFolders(running).map(({ state: { kind } }) => kind),
    ["elsewhere"],
  );
});
