// What the parts of the bench share: the type of a row, how a program is run and timed, and the median.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { pythonPath } from "@mlrb/kit/python-path";
import { findPython, noPython } from "@mlrb/local/process/find-python";

export const repository = join(dirname(fileURLToPath(import.meta.url)), "../..");

export type RowDetail = {
  /** The reference: in words, and as a number of the same unit. */
  against?: string;
  other?: number;
  /** The most that the ratio should be. */
  target?: number | undefined;
  unit?: "s" | "MB" | "MiB" | "calls" | "×";
};

export type TellRow = (what: string, value: number, detail?: RowDetail) => void;

/** `work` is a folder for everything that a part makes. */
export type Bench = { work: string; row: TellRow };

export function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[all.length >> 1]!;
}

/** Returns what the program printed. Throws when it fails. */
export function run(program: string, args: string[], cwd: string = repository): string {
  const { status, stderr, stdout, error } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: {
      ...process.env,
      PYTHONPATH: pythonPath(repository),
      PYTHONDONTWRITEBYTECODE: "1",
      OMP_NUM_THREADS: "1",
    },
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr + stdout}`);
  return stdout;
}

/** Runs the command line. Returns what it printed; throws when it fails. */
export function pipeline(...words: string[]): string {
  return run(process.execPath, pipelineArguments(words));
}

/** As the script `pipeline` of package.json has it. */
export const semiSpace = "--max-semi-space-size=2";

/** Of Node, for a call of the command line. */
export function pipelineArguments(words: readonly string[]): string[] {
  return [semiSpace, ...nodeFlags, "runners/cli/bin/pipeline.js", ...words];
}

/** Of a program and all that it waited for. `peakBytes`: of the largest of these processes. */
export type Usage = { seconds: number; cpuSeconds: number; peakBytes: number; printed: string };

// Node tells the resources of itself only
const usageScript = `import resource, subprocess, sys, time
begin = time.monotonic()
status = subprocess.run(sys.argv[1:]).returncode
elapsed = time.monotonic() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("\\nusage", elapsed, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
sys.exit(status)`;

/** Runs a program and measures it. Throws when it fails. */
export function usage(program: string, args: string[], cwd?: string): Usage {
  const python = findPython()?.path;
  if (python === undefined) throw new Error(noPython);
  const all = run(python, ["-c", usageScript, program, ...args], cwd);
  const end = all.lastIndexOf("\nusage ");
  const [seconds, cpuSeconds, peakBytes] = all
    .slice(end + 7)
    .trim()
    .split(" ")
    .map(Number);
  return { seconds: seconds!, cpuSeconds: cpuSeconds!, peakBytes: peakBytes!, printed: all.slice(0, end) };
}

export async function medianSeconds(times: number, work: (turn: number) => unknown): Promise<number> {
  const all: number[] = [];
  for (let turn = 0; turn < times; turn++) all.push(await seconds(() => work(turn)));
  return median(all);
}

export async function seconds(work: () => unknown): Promise<number> {
  const begin = performance.now();
  await work();
  return (performance.now() - begin) / 1000;
}
