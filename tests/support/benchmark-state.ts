// The state of a run of the benchmark on one task with the scripted agents, made once for the whole suite.
// Tests that only read use the shared state. A test that runs something uses a copy. At its end the suite verifies
// that the shared state has not changed.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { indexVariables } from "./demonstration/play.ts";
import { shareEnvironments } from "./environments.ts";
import { isRunning } from "./processes.ts";
import { type ProgramOutput, parseLines, startProgram } from "./run-program.ts";
import { throwAwayRepository } from "./throw-away-repository.ts";

export type BenchmarkState = {
  /** The folder with `.mlrb/` and `results/`. Read-only. */
  root: string;
  /** The output of `run hello`, and then of `run full-benchmark` on one task. */
  hello: ProgramOutput;
  oneTask: ProgramOutput;
};

export const oneTask = "baby-lm";
export const oneTaskArguments = ["run", "full-benchmark", "--json", "--set", `task=${oneTask}`];

let own: Promise<BenchmarkState> | undefined;

/** The first test file that calls this makes the state; others wait. Without the suite each file makes its own. */
export function benchmarkState(): Promise<BenchmarkState> {
  own ??= stateIn(process.env.MLRB_TEST_SHARED ?? ownFolder());
  return own;
}

/** Copies the shared state to `root`, which must not exist. */
export async function copyBenchmarkState(root: string): Promise<void> {
  const { root: from } = await benchmarkState();
  const { status, stderr } = spawnSync("cp", ["-a", from, root], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

function ownFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-benchmark-")));
  process.once("exit", () => removeFolder(folder));
  return folder;
}

async function stateIn(folder: string): Promise<BenchmarkState> {
  const [made, making, root] = ["made.json", "making", "benchmark"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  while (!existsSync(made)) {
    if (takeTurn(making)) {
      const said = await make(root);
      writeFileSync(`${made}.tmp`, JSON.stringify(said));
      renameSync(`${made}.tmp`, made);
    } else await sleep(200);
  }
  const [hello, oneTask] = (JSON.parse(readFileSync(made, "utf8")) as ProgramOutput[]).map(withLines);
  return { root, hello: hello!, oneTask: oneTask! };
}

/** Whether this process makes the state: no other process does, or that process has ended. */
function takeTurn(making: string): boolean {
  try {
    writeFileSync(making, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    const pid = Number(readFileSync(making, "utf8"));
    if (pid > 0 && !isRunning(pid)) rmSync(making, { force: true });
    return false;
  }
}

async function make(root: string): Promise<ProgramOutput[]> {
  const repository = throwAwayRepository();
  try {
    removeFolder(root);
    mkdirSync(root, { recursive: true });
    shareEnvironments(root);
    const run = (...args: string[]) =>
      startProgram(repository.path, [...args, "--root", root], { env: indexVariables() }).ended;
    const both = [await run("run", "hello"), await run(...oneTaskArguments)];
    return both.map(({ code, signal, stdout, stderr }) => ({ code, signal, stdout, stderr, lines: [] }));
  } finally {
    repository.remove();
  }
}

function withLines(said: ProgramOutput): ProgramOutput {
  return {
    ...said,
    get lines() {
      return parseLines(said.stdout);
    },
  };
}
