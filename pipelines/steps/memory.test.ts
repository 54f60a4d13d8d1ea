import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { runMemoryStep } from "./testing/run-memory-step.ts";

const root = mkdtempSync(join(tmpdir(), "memory-step-"));
after(() => rmSync(root, { recursive: true }));

const rule = { name: "memory", method: "memory-max", with: { bytes: 1, tokens: 1 } };
const measurements = (admission: object, ...rules: object[]) =>
  runMemoryStep({ at: mkdtempSync(join(root, "m-")), submission: root, admission, rules }).measurements;

test("a submission that was not admitted, or has unknown settings, is not measured", () => {
  assert.deepEqual(measurements({ admitted: false }, rule), []);
  assert.deepEqual(measurements({ undecided: [{ code: "setting", detail: "x" }] }, rule), []);
});

test("a task without a memory rule for its kind of data measures nothing", () => {
  const others = [
    { name: "size", method: "parameters-max", with: { max: 1 } },
    { ...rule, on: ["official"] },
  ];
  assert.deepEqual(measurements({}, ...others), []);
});
