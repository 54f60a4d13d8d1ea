// Runs the Python programs of this folder, which make submissions for the scorers' tests.
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { pythonPath } from "@mlrb/kit/python-path";
import { warmArguments } from "../../tests/support/warm-python.ts";

const repository = resolve(import.meta.dirname, "../..");

/** The Python that tests start. Throws an error that says how to get one where MLRB_PYTHON is not set. */
export function testPython(): string {
  const python = process.env.MLRB_PYTHON;
  if (python) return python;
  throw new Error(
    "these tests run models and need MLRB_PYTHON: the python of an environment made from " +
      "pipelines/environments/ml.lock (`pnpm test` makes one and sets it)",
  );
}

export function makeSubmissions(folder: string): void {
  runTestProgram(["make_submissions.py", folder]);
}

/** Runs a program of this folder and returns its output. */
function runTestProgram([program = "", ...args]: string[]): string {
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PYTHONPATH: pythonPath(repository),
    PYTHONHASHSEED: "0",
    PYTHONDONTWRITEBYTECODE: "1",
    OMP_NUM_THREADS: "1",
  };
  return execFileSync(testPython(), warmArguments([join(import.meta.dirname, program), ...args]), {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}
