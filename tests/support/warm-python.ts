// The suite's only warm Python process (warm_python.py). A test file that runs without the suite starts a fresh
// Python for each script instead, so both ways must have the same results.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const program = join(import.meta.dirname, "warm_python.py");
const preload = join(import.meta.dirname, "../../pipelines/environments/ml.preload.py");

/** Starts the process. Scripts wait while it imports. `socket` must not exist. */
export function startWarmPython(
  python: string,
  { socket, env }: { socket: string; env: Record<string, string> },
): ChildProcess {
  // the libraries keep paths below HOME, and a job's token is written where its start variables were
  const home = { HOME: `${socket}-home`, TMPDIR: `${socket}-home`, MLRB_TOKEN: "-".repeat(256) };
  mkdirSync(home.HOME, { recursive: true });
  const own = { OMP_NUM_THREADS: "1", PYTHONHASHSEED: "0", PYTHONDONTWRITEBYTECODE: "1" };
  const variables = { ...env, ...own, ...home };
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

/** Name of the variable by which runs under test start the server of their scripts in the warm process. */
const forkServer = "MLRB_TEST_FORK_SERVER";

/** The variable's value for the warm process at `socket`. */
export function forkServerVariable(socket: string): Record<string, string> {
  return { [forkServer]: JSON.stringify(["-I", "-S", program, "fork", socket]) };
}

/** The variable, for programs that get no other variables of the suite; empty without a suite. */
export function warmForkServer(): Record<string, string> {
  const value = process.env[forkServer];
  return value === undefined ? {} : { [forkServer]: value };
}
