// Runs the Python tests of where models run: all with a fake CUDA, since no test machine need have a GPU.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { warmArguments } from "../../../tests/support/warm-python.ts";

test("with a fake CUDA models, ids, clocks and memory are the GPU's, and nothing falls back to the processor", () => {
  const python = process.env.MLRB_PYTHON;
  assert.ok(python, "needs MLRB_PYTHON, a python of pipelines/environments/ml.lock (`pnpm test` sets it)");
  const { MLRB_GPUS: _, ...env } = process.env;
  const ran = spawnSync(python, warmArguments([join(import.meta.dirname, "test_device.py")]), {
    encoding: "utf8",
    env: {
      ...env,
      PYTHONPATH: [
        resolve(import.meta.dirname, "../python"),
        resolve(import.meta.dirname, "../../../tasks"),
      ].join(":"),
      PYTHONDONTWRITEBYTECODE: "1",
    },
  });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stderr, /Ran \d+ tests/);
});
