// Runs the Python of this folder for the contract test: makes the submissions, measures many at a go.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

const kit = resolve(import.meta.dirname, "../../runners/kit/python");

/** What the tests start Python with. Throws, saying how to come by one, where there is none. */
export function testPython(): string {
  const python = process.env.MLRB_PYTHON;
  if (python) return python;
  throw new Error(
    "these tests score real models and need MLRB_PYTHON: the python of an environment made from " +
      "pipelines/environments/ml.lock (`pnpm test` makes one and sets it)",
  );
}

export function makeSubmissions(folder: string): void {
  run([join(import.meta.dirname, "make_submissions.py"), folder]);
}

/** Writes NAME.json and NAME.jsonl to `out` for each submission; gives the exit status for each. */
export function measureMany(
  scorer: string,
  paths: { private: string; submissions: string; out: string },
): Record<string, number> {
  mkdirSync(paths.out, { recursive: true });
  const flags = Object.entries({ scorer, ...paths }).flatMap(([name, path]) => [`--${name}`, path]);
  return JSON.parse(run([join(import.meta.dirname, "measure_many.py"), ...flags]));
}

function run(args: string[]): string {
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PYTHONPATH: kit,
    PYTHONHASHSEED: "0",
    PYTHONDONTWRITEBYTECODE: "1",
    OMP_NUM_THREADS: "1",
  };
  return execFileSync(testPython(), args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
