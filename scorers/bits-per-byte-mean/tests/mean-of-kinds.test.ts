// Runs the Python tests of this scorer.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { warmArguments } from "../../../tests/support/warm-python.ts";
import { testPython } from "../../testing/submissions.ts";

test("the mean over kinds of text agrees with numbers worked out by hand", () => {
  const folders = ["../../../runners/kit/python", ".."].map((path) => resolve(import.meta.dirname, path));
  const ran = spawnSync(testPython(), warmArguments([join(import.meta.dirname, "test_mean_of_kinds.py")]), {
    encoding: "utf8",
    env: { ...process.env, PYTHONPATH: folders.join(":"), PYTHONDONTWRITEBYTECODE: "1" },
  });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stderr, /Ran 6 tests/);
});
