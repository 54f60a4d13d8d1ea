import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { writeJson } from "../json-file.ts";
import { hasOpenJob } from "./open-job.ts";

test("a job is open until it has written its end, was given up, or is to be killed", (t) => {
  const attempt = mkdtempSync(join(tmpdir(), "mlrb-jobs-"));
  t.after(() => rmSync(attempt, { recursive: true }));
  assert.equal(hasOpenJob(attempt), false);
  const file = (job: string, name: string) => {
    mkdirSync(join(attempt, "jobs", job), { recursive: true });
    return join(attempt, "jobs", job, name);
  };
  for (const [at, [name, value]] of [
    ["done.json", {}] as const,
    ["claim.json", { kind: "given-up" }] as const,
    ["end.json", { signal: "USR2" }] as const,
  ].entries()) {
    const job = String(at + 1);
    writeJson(file(job, "job.json"), {});
    writeJson(file(job, "id.json"), { id: "7" });
    assert.equal(hasOpenJob(attempt), true, `before ${name}`);
    writeJson(file(job, name), value);
    assert.equal(hasOpenJob(attempt), false, name);
  }
  writeJson(file("4", "job.json"), {});
  writeJson(file("4", "claim.json"), { kind: "begun" });
  writeJson(file("4", "end.json"), { signal: "TERM" });
  assert.equal(hasOpenJob(attempt), true, "it may still seal its work");
  writeJson(file("4", "end.json"), { signal: "USR2" });
  const ends = [
    [{ result: { kind: "succeeded" } }, false],
    [{ result: { kind: "cancelled" }, continues: true }, false],
    [{ result: { kind: "cancelled" } }, true],
    [{ result: { kind: "failed", cause: "exit-code", detail: "ended by SIGKILL" } }, true],
  ] as const;
  for (const [done, isOpen] of ends) {
    writeJson(file("5", "job.json"), {});
    writeJson(file("5", "done.json"), done);
    assert.equal(hasOpenJob(attempt), isOpen, "only Slurm knows who ended it");
  }
  writeJson(file("5", "end.json"), { signal: "USR2" });
  assert.equal(hasOpenJob(attempt), false, "a supervisor has learned its end");
});
