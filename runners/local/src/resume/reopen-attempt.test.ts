import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { hasOpenJob } from "@mlrb/kit/attempts/open-job";
import { writeJson } from "@mlrb/kit/json-file";
import { attemptFolders, attemptOf, claimAttempt, makeAttemptFolder } from "../attempts/attempt-folders.ts";
import { tryLease } from "../leases/lease.ts";
import { thisProcess } from "../leases/owner.ts";
import { exampleCard } from "../testing/example-record.ts";
import { reopenAttempts } from "./reopen-attempt.ts";

const dead: Owner = { ...thisProcess(), pid: 2 ** 22 + 1, started: "1" };
const [a, b] = ["a".repeat(64), "b".repeat(64)];
const gives = [{ name: "trajectory", file: "trajectory", kind: "file" as const }];

function scene(t: TestContext) {
  const above = mkdtempSync(join(tmpdir(), "mlrb-reopen-"));
  t.after(() => rmSync(above, { recursive: true }));
  const [running, leases, lost] = ["attempts/running", "leases", "attempts/lost"].map((name) =>
    join(above, name),
  ) as [string, string, string];
  for (const folder of [running, leases, lost]) mkdirSync(folder, { recursive: true });
  /** The folder of a model's attempt whose run is dead. */
  const attempt = (key: string) => {
    const card = { ...exampleCard, key, gives, by: dead };
    const made = makeAttemptFolder(running, card);
    mkdirSync(join(made.path, "attempt-x/sandbox-y/workspace"), { recursive: true });
    const start = { ...exampleEvent("start"), kind: "llm" };
    writeFileSync(join(made.path, "out/trajectory"), `${JSON.stringify(start)}\n`);
    return { ...made, card };
  };
  const quarantined = (key: string) => {
    const made = attempt(key);
    renameSync(made.path, join(lost, made.name));
    return { ...made, path: join(lost, made.name) };
  };
  const recorded = new Set<string>();
  const place = { state: { running, leases }, records: { has: (key: string) => recorded.has(key) } };
  const states = () => attemptFolders(running).map(({ state: { kind } }) => kind);
  return { running, leases, lost, attempt, quarantined, recorded, place, states };
}

test("a quarantined attempt is not brought back while another one of its key runs without a run", (t) => {
  const { attempt, quarantined, place, states, running } = scene(t);
  const one = quarantined(a);
  const other = attempt(a);
  claimAttempt(other.path);
  const refused = reopenAttempts([one], place);
  assert.match(refused?.why ?? "", new RegExp(`${other.name} in .*attempts stop`));
  assert.deepEqual(states(), ["running"]);
  assert.equal(attemptOf(a, { state: { running } })?.name, other.name);
});

test("a quarantined attempt is not brought back if an attempt of its key is recorded or can continue, or a run holds the lease", (t) => {
  const { attempt, quarantined, place, recorded, leases, states } = scene(t);
  const one = quarantined(a);
  recorded.add(a);
  assert.match(reopenAttempts([one], place)?.why ?? "", /is recorded/);
  recorded.clear();
  const lease = tryLease(leases, a) as { release(): void };
  assert.match(reopenAttempts([one], place)?.why ?? "", /a run is at work .*process \d+ on /);
  lease.release();
  attempt(a);
  assert.match(reopenAttempts([one], place)?.why ?? "", /has its place/);
  assert.deepEqual(states(), ["resumable"]);
});

test("of several attempts all are brought back, or none if one must stay", (t) => {
  const { quarantined, place, lost, leases, recorded, states } = scene(t);
  const both = [quarantined(a), quarantined(b)];
  recorded.add(b);
  assert.equal(reopenAttempts(both, place)?.attempt, both[1]);
  assert.deepEqual([states(), readdirSync(lost).length, readdirSync(leases)], [[], 2, []]);
  recorded.clear();
  assert.equal(reopenAttempts([...both, quarantined(a)], place)?.why.includes("to be resumed too"), true);
  assert.equal(reopenAttempts(both, place), undefined);
  assert.deepEqual([states(), readdirSync(leases)], [["resumable", "resumable"], []]);
});

test("a person's resume continues an attempt whose job was cancelled, without asking how it ended", (t) => {
  const { quarantined, place, running } = scene(t);
  const one = quarantined(a);
  const job = join(one.path, "jobs/1");
  mkdirSync(job, { recursive: true });
  writeJson(join(job, "job.json"), {});
  writeJson(join(job, "done.json"), { result: { kind: "cancelled" } });
  assert.equal(hasOpenJob(one.path), true);
  assert.equal(reopenAttempts([one], place), undefined);
  assert.equal(hasOpenJob(join(running, one.name)), false);
});

test("of two attempts of one key the running one is the key's, whatever their names", (t) => {
  const { attempt, running } = scene(t);
  const all = [attempt(a), attempt(a), attempt(a)];
  claimAttempt(all[1]!.path);
  assert.equal(attemptOf(a, { state: { running } })?.name, all[1]!.name);
});
