// Runs a file of Python tests as one test: kit's modules and those beside the scorer are at hand.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { dirname, resolve } from "node:path";
import { warmArguments } from "../../tests/support/warm-python.ts";
import { testPython } from "./submissions.ts";

/** `file` is absolute. Fails with what the tests said; and where too few of them ran. */
export function runPythonTests(file: string, ran: RegExp): void {
  const folders = [resolve(import.meta.dirname, "../../runners/kit/python"), resolve(dirname(file), "..")];
  const done = spawnSync(testPython(), warmArguments([file]), {
    encoding: "utf8",
    env: { ...process.env, PYTHONPATH: folders.join(":"), PYTHONDONTWRITEBYTECODE: "1" },
  });
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stderr, ran);
}
