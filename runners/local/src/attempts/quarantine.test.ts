import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { exampleCard } from "../testing/example-record.ts";
import { makeAttemptFolder } from "./attempt-folders.ts";
import { quarantine } from "./quarantine.ts";

test("an attempt that another process has moved keeps that process's cause", (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-quarantine-"));
  t.after(() => rmSync(root, { recursive: true }));
  const running = join(root, ".mlrb/attempts/running");
  mkdirSync(running, { recursive: true });
  const attempt = { ...makeAttemptFolder(running, exampleCard), card: exampleCard };
  writeFileSync(join(attempt.path, "out/text"), "half");
  const state = { root, logs: join(root, "logs") };
  const first = quarantine(attempt, { kind: "terminated", detail: "by its supervisor" }, state);
  assert.equal(first?.cause.kind, "terminated");
  const second = quarantine(attempt, { kind: "stopped", detail: "by its run" }, state);
  assert.deepEqual(second?.cause, first?.cause);
  assert.equal(second?.folder, first?.folder);
});

test("an attempt with GPUs whose job never began is not lost: another try costs nothing twice", (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-quarantine-"));
  t.after(() => rmSync(root, { recursive: true }));
  const running = join(root, ".mlrb/attempts/running");
  const card = { ...exampleCard, gpus: 8, executor: "slurm" };
  const attempt = { ...makeAttemptFolder(running, card), card };
  const { path } = attempt;
  mkdirSync(join(path, "jobs/1"), { recursive: true });
  writeFileSync(join(path, "jobs/1/job.json"), "{}");
  writeFileSync(join(path, "ending.json.reserved"), "room");
  writeFileSync(join(path, "log"), "mlrb: waits: Priority\n");
  const state = { root, logs: join(root, "logs") };
  const cause = { kind: "supervisor-lost", detail: "preempted" } as const;
  assert.equal(quarantine(attempt, cause, state), undefined);
  const claim = { kind: "begun", formatVersion: 1, id: "7", host: "n1", node: "n1" };
  writeFileSync(join(path, "jobs/1/claim.json"), JSON.stringify(claim));
  assert.equal(quarantine(attempt, cause, state)?.cause.detail, "preempted");
});
