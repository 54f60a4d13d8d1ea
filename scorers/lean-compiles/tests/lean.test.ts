// Runs the Python tests of what checks formal proofs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { testPython } from "../../testing/submissions.ts";

test("no text that tries to smuggle something past Lean counts, and honest proofs do", () => {
  const ran = spawnSync(testPython(), [join(import.meta.dirname, "test_lean.py")], {
    encoding: "utf8",
    env: {
      ...process.env,
      PYTHONPATH: resolve(import.meta.dirname, "../../../runners/kit/python"),
      PYTHONDONTWRITEBYTECODE: "1",
    },
  });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stderr, /Ran \d\d tests/);
});
