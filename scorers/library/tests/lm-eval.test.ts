// Runs the Python tests of what is shared by scorers that run lm-eval's tasks.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { warmArguments } from "../../../tests/support/warm-python.ts";

test("the arithmetic, the data checks and the memory check of lm-eval scores agree with hand-made cases", () => {
  const python = process.env.MLRB_PYTHON;
  assert.ok(python, "needs MLRB_PYTHON, a python of pipelines/environments/ml.lock (`pnpm test` sets it)");
  const ran = spawnSync(python, warmArguments([join(import.meta.dirname, "test_lm_eval.py")]), {
    encoding: "utf8",
    env: {
      ...process.env,
      PYTHONPATH: resolve(import.meta.dirname, "../python"),
      PYTHONDONTWRITEBYTECODE: "1",
    },
  });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stderr, /Ran \d\d tests/);
});
