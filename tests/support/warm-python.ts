// The suite's only warm Python process (warm_python.py). A test file that runs without the suite starts a fresh Python
// for each script instead, so both ways must have the same results.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";

const program = join(import.meta.dirname, "warm_python.py");
const preload = join(import.meta.dirname, "../../pipelines/environments/ml.preload.py");

/** Starts the process. Scripts wait while it imports. `socket` must not exist. */
export function startWarmPython(
  python: string,
  { socket, env }: { socket: string; env: Record<string, string> },
): ChildProcess {
  const variables = { ...env, OMP_NUM_THREADS: "1", PYTHONHASHSEED: "0", PYTHONDONTWRITEBYTECODE: "1" };
  return spawn(python, [program, "serve", socket, preload], {
    env: variables,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** The arguments of Python to run a script of the environment `ml`, warm in the suite. */
export function warmArguments(script: string[]): string[] {
  const socket = process.env.MLRB_TEST_WARM_PYTHON;
  return socket === undefined || script[0]?.startsWith("-")
    ? script
    : ["-I", "-S", program, "run", socket, ...script];
}
