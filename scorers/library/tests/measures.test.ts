// Runs the Python tests of what scores are computed with.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { warmArguments } from "../../tests/support/warm-python.ts";
import { testPython } from "./submissions.ts";

test("the arithmetic of the scores agrees with numbers worked out by hand", () => {
  const ran = spawnSync(testPython(), warmArguments([join(import.meta.dirname, "test_measures.py")]), {
    encoding: "utf8",
    env: {
      ...process.env,
      PYTHONPATH: resolve(import.meta.dirname, "../../runners/kit/python"),
      PYTHONDONTWRITEBYTECODE: "1",
    },
  });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stderr, /Ran \d\d tests/);
});
