// Runs the Python tests of this scorer.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { testPython } from "../../testing/submissions.ts";

test("the worst domain's score, error and samples agree with numbers worked out by hand", () => {
  const ran = spawnSync(testPython(), [join(import.meta.dirname, "test_worst.py")], {
    encoding: "utf8",
    env: {
      ...process.env,
      PYTHONPATH: `${resolve(import.meta.dirname, "../../../runners/kit/python")}:${resolve(import.meta.dirname, "..")}`,
      PYTHONDONTWRITEBYTECODE: "1",
    },
  });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stderr, /Ran \d+ tests/);
});
