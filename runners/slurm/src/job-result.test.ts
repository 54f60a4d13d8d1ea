// The result of a stage for each way in which a job can end.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SlurmDone } from "@mlrb/formats/stage/slurm-job";
import { type JobEnd, jobResult, needsState } from "./job-result.ts";

const done = (result: SlurmDone["result"]): SlurmDone => ({
  formatVersion: 1,
  job: "1",
  id: "12",
  host: "gpu-7.lab",
  node: "gpu-7",
  wrote: { files: 0, bytes: 0, digest: "0".repeat(64) },
  result,
});
const end = (more: Partial<JobEnd>): JobEnd => ({
  done: undefined,
  state: undefined,
  unlaunched: false,
  asked: false,
  limits: {},
  said: "",
  ...more,
});
const causeOf = (more: Partial<JobEnd>) => {
  const result = jobResult(end(more));
  return result.kind === "failed" ? [result.cause, result.detail] : [result.kind];
};
const signalled = done({ kind: "cancelled" });
const killed = done({
  kind: "failed",
  cause: "exit-code",
  detail: "ended by SIGKILL (perhaps for lack of memory)",
});

test("a job that ended for another one needs no word of Slurm", () => {
  const turned = { ...signalled, continues: true } as const;
  assert.equal(needsState({ done: turned, asked: false }), false);
  assert.deepEqual(causeOf({ done: turned }), [
    "machine",
    "the time of its job was over, and it goes on in another one",
  ]);
  assert.deepEqual(causeOf({ done: turned, asked: true }), ["cancelled"]);
});

test("what the job wrote is its result, with the node and the id for provenance", () => {
  const succeeded = done({ kind: "succeeded", where: { gpus: "A100 (GPU-1)" } });
  assert.deepEqual(jobResult(end({ done: succeeded, state: "running" })), {
    kind: "succeeded",
    where: { gpus: "A100 (GPU-1)", executor: "slurm", job: "12", node: "gpu-7", nodeHost: "gpu-7.lab" },
  });
  const failed = done({ kind: "failed", cause: "time-limit", detail: "did not end within 1 h" });
  assert.deepEqual(jobResult(end({ done: failed, state: "failed" })), failed.result);
});

test("preemption and a failed node are failures of the machine, which is tried again", () => {
  for (const state of ["preempted", "node-failed"] as const)
    for (const last of [undefined, signalled]) assert.equal(causeOf({ state, done: last })[0], "machine");
});

test("a cancellation by somebody else is not tried again, and one by the runner is no failure", () => {
  for (const last of [undefined, signalled]) {
    assert.equal(causeOf({ state: "cancelled", done: last })[0], "operator");
    assert.deepEqual(causeOf({ state: "cancelled", done: last, asked: true }), ["cancelled"]);
  }
});

test("a job that Slurm cancels because its node cannot launch it is tried again", () => {
  assert.equal(causeOf({ state: "cancelled", unlaunched: true })[0], "machine");
});

test("Slurm's time limit is named after the stage's, or after the partition's where the stage has none", () => {
  const limits = { timeMs: 3_600_000 };
  assert.deepEqual(causeOf({ state: "time-limit", done: signalled, limits }), [
    "time-limit",
    "did not end within 1 h 0 m",
  ]);
  assert.deepEqual(causeOf({ state: "time-limit" }), [
    "time-limit",
    "did not end within the time limit of its partition",
  ]);
});

test("a program that the kernel killed lacked memory if Slurm says so, and else only perhaps", () => {
  assert.equal(causeOf({ done: killed, state: "out-of-memory" })[0], "out-of-memory");
  assert.equal(causeOf({ done: killed, state: "failed" })[0], "exit-code");
  assert.equal(causeOf({ state: "out-of-memory" })[0], "out-of-memory");
});

test("a job without a result and without a known end is a failure of the machine, with its last line", () => {
  assert.deepEqual(causeOf({ state: "failed", said: "/lab/node: not found" }), [
    "machine",
    "its job ended without a result: /lab/node: not found",
  ]);
  assert.equal(causeOf({})[0], "machine");
  assert.equal(causeOf({ done: signalled })[0], "machine");
});

test("Slurm is asked only where the job's own result leaves the cause open", () => {
  const failed = done({ kind: "failed", cause: "exit-code", detail: "exit status 3" });
  const asks = (more: Partial<JobEnd>) => needsState(end(more));
  assert.equal(asks({ done: done({ kind: "succeeded" }) }), false);
  assert.equal(asks({ done: failed }), false);
  assert.equal(asks({ done: signalled, asked: true }), false);
  assert.equal(asks({ done: signalled }), true);
  assert.equal(asks({ done: killed }), true);
  assert.equal(asks({}), true);
});
