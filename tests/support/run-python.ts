// Runs Python with the benchmark's packages and nothing else of this environment, warm in the suite; returns what it
// prints.
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { pythonPath } from "@mlrb/kit/python-path";
import { testPython } from "../../scorers/testing/submissions.ts";
import { warmArguments } from "./warm-python.ts";

const repository = resolve(import.meta.dirname, "../..");

export function runPython(words: string[], options: { cwd?: string; timeout?: number } = {}): string {
  const { PATH, HOME } = process.env;
  return execFileSync(testPython(), warmArguments(words), {
    ...options,
    env: {
      PATH,
      HOME,
      PYTHONPATH: pythonPath(repository),
      PYTHONDONTWRITEBYTECODE: "1",
      OMP_NUM_THREADS: "1",
    },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 1 << 26,
  }).trimEnd();
}
