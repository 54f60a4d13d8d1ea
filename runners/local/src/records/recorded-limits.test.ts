import assert from "node:assert/strict";
import { test } from "node:test";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { recordedWeakLimits } from "./recorded-limits.ts";

const untrusted = { preset: { kind: "command" } };

function weak(where: Record<string, string> | undefined, params: object = untrusted): string[] {
  return recordedWeakLimits({
    ran: where === undefined ? {} : { where },
    parts: { params },
  } as unknown as AttemptRecord);
}

const bubblewrap = { sandbox: "bubblewrap 0.8.0" };

test("the limits that were polled are weak, and those that the kernel held are not", () => {
  assert.deepEqual(weak({ ...bubblewrap, memoryLimit: "kernel", diskLimit: "kernel" }), []);
  assert.deepEqual(weak({ ...bubblewrap, memoryLimit: "kernel", diskLimit: "polled" }), ["disk"]);
  assert.deepEqual(weak({ ...bubblewrap, memoryLimit: "polled", diskLimit: "polled" }), ["memory", "disk"]);
});

test("an untrusted agent in a plain folder had no sandbox; a trusted one needs none", () => {
  assert.deepEqual(weak({ sandbox: "plain" }), ["no-sandbox"]);
  assert.deepEqual(weak({ sandbox: "plain" }, { preset: { trusted: true } }), []);
  assert.deepEqual(weak({ sandbox: "plain" }, { kind: "nop" }), []);
});

test("a record that does not say who held a limit says so", () => {
  assert.deepEqual(weak(bubblewrap), ["not-recorded"]);
  assert.deepEqual(weak({ ...bubblewrap, memoryLimit: "kernel" }), ["not-recorded"]);
  assert.deepEqual(weak(undefined), ["not-recorded"]);
});

test("a sandbox in which no program ran had no limits to hold", () => {
  assert.deepEqual(weak({ sandbox: "bubblewrap" }), []);
});
