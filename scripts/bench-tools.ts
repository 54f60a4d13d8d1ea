// What the parts of the bench share: how a row is told, how a program is run, and the middle of several.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pythonPath } from "@mlrb/kit/python-path";

const repository = join(dirname(fileURLToPath(import.meta.url)), "..");

export type RowDetail = {
  /** What it is compared with, in words and as a number of the same unit. */
  against?: string;
  other?: number;
  /** The most that the ratio should be. */
  target?: number | undefined;
  unit?: "s" | "MB";
};

export type TellRow = (what: string, value: number, detail?: RowDetail) => void;

export function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[all.length >> 1]!;
}

/** Gives what it said. Throws when it fails. */
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

/** Seconds, the middle of so many runs. */
export function medianSeconds(times: number, work: () => void): number {
  return median(Array.from({ length: times }, () => seconds(work)));
}

export function seconds(work: () => void): number {
  const begin = performance.now();
  work();
  return (performance.now() - begin) / 1000;
}
