import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import { makeRunKey, type RunKey, RunSignatures } from "../signatures/run-key.ts";
import { noSshKeygen, signingKeys } from "../testing/signing-keys.ts";
import { smallPlan } from "../testing/small-plan.ts";
import { copiesAttempt, entryText, isShared, readEntry, remoteAddress } from "./remote-entry.ts";

const key = "a".repeat(64);
const content = "b".repeat(64);
const instance = (gpus: number) => smallPlan({ name: "s", execution: { resources: { gpus } } }).instances[0]!;

test("the result of a stage with a GPU lies apart for each GPU model, and without one under its key", () => {
  const on = (gpus: number, ...models: string[]) => remoteAddress(key, instance(gpus), () => models);
  assert.equal(on(0, "H100"), key);
  assert.notEqual(on(1, "H100"), key);
  assert.notEqual(on(1, "H100"), on(1, "A100"));
  assert.equal(on(1, "H100", "H100"), on(1, "H100"), "how many there are changes no digit");
  assert.equal(on(1, "A100", "H100"), on(1, "H100", "A100"));
});

test("what a cluster's GPUs compute, and copies of an attempt's folders, are not shared", () => {
  const onNode = { executor: "slurm", resources: { gpus: 1 } };
  const { instances } = smallPlan(
    { name: "gpu", execution: { resources: { gpus: 1 } } },
    { name: "node-gpu", execution: onNode },
    { name: "node", execution: { executor: "slurm" } },
    { name: "attempt", durable: true, gives: { submission: "dir" } },
    { name: "validate", needs: { submission: "attempt.submission" }, gives: { submission: "dir" } },
    { name: "verdict", needs: { submission: "attempt.submission" }, gives: { verdict: "file" } },
    { name: "answers", needs: { submission: "validate.submission" }, gives: { answers: "dir" } },
  );
  const named = (is: (one: Instance) => boolean) => instances.filter(is).map(({ id }) => id);
  assert.deepEqual(named(isShared), ["gpu", "node", "validate", "verdict", "answers"]);
  assert.deepEqual(
    named((one) => copiesAttempt(one, { instances })),
    ["validate"],
  );
});

type ActionResult = {
  outputFiles: { path: string; digest: { hash: string; sizeBytes: string } }[];
  stdoutRaw: string;
  executionMetadata: { worker: string };
};

test("an entry has the form that the source of bazel-remote checks, and counts also if the server rewrites what is around its payload", {
  skip: noSshKeygen,
}, () => {
  const keys = signingKeys({ after });
  const runKey = makeRunKey(keys.make("alice")) as RunKey;
  const ran = { run: "r", startedAt: "then", durationMs: 7, executor: "local", host: "gpu1" };
  const text = entryText(
    {
      formatVersion: 1,
      key,
      address: key,
      stage: "s",
      outputs: { out: { kind: "file", digest: content } },
      contents: { [content]: 12, ["c".repeat(64)]: 0 },
      ran,
    },
    runKey,
  );
  const { outputFiles, stdoutRaw, executionMetadata } = JSON.parse(text) as ActionResult;
  // its checks: a relative path, a digest in small letters, a size above zero
  assert.deepEqual(outputFiles, [{ path: content, digest: { hash: content, sizeBytes: "12" } }]);
  assert.equal(executionMetadata.worker, "mlrb");
  // stored as a protocol buffer and printed again: other spaces, another order
  const rewritten = `{ "executionMetadata": {"worker":"mlrb"},  "stdoutRaw":"${stdoutRaw}", "outputFiles": [] }`;
  const signatures = new RunSignatures(keys.allowing("alice"));
  const found = readEntry(rewritten, { key, address: key, instance: instance(0), signatures });
  assert.ok(found.kind === "valid", JSON.stringify(found));
  assert.deepEqual([found.signedBy, found.action.ran], ["alice", ran]);
});
