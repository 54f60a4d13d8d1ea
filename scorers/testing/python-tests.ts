// Runs a file of Python tests as one test, with imports from the kit, the library and the scorer's folder.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { delimiter, dirname, resolve } from "node:path";
import { pythonPath } from "@mlrb/kit/python-path";
import { assertTestsRan } from "../../tests/support/python-tests-ran.ts";
import { warmArguments } from "../../tests/support/warm-python.ts";
import { testPython } from "./submissions.ts";

const repository = resolve(import.meta.dirname, "../..");

/** `file` is absolute; `more` are folders to import from. Fails with the tests' output, or if fewer than `least` ran. */
export function runPythonTests(file: string, least = 1, more: string[] = []): void {
  const { MLRB_GPUS: _, ...env } = process.env;
  const folders = [pythonPath(repository), resolve(dirname(file), ".."), ...more];
  const done = spawnSync(testPython(), warmArguments([file]), {
    encoding: "utf8",
    env: {
      ...env,
      PYTHONPATH: folders.join(delimiter),
      PYTHONDONTWRITEBYTECODE: "1",
      OMP_NUM_THREADS: "1", // as in the warm process: threads of two test files would wait for each other
    },
  });
  assert.equal(done.status, 0, done.stderr);
  assertTestsRan(done.stderr, least);
}
