// Runs the command line under strace, which counts the system calls of the runner's main thread and kills the
// runner, or fails a call, at exactly the n-th. Node makes synchronous file calls on the main thread. Without -f
// strace follows only this thread, so stages and their children are not affected.

import { readFileSync } from "node:fs";
import type { Random } from "@mlrb/core/statistics/random";
import { type ProgramOptions, type ProgramOutput, startProgram } from "../run-program.ts";

export type Call = { name: string; ordinal: number; line: string };

export type Fault = { call: string; ordinal: number; what: "signal=SIGKILL" | `error=${string}` };

export type TracedOptions = ProgramOptions & { calls: string[]; log: string; fault?: Fault };

const limitSeconds = 40;

/** Runs to the end, or for `limitSeconds`. `log` then has the calls, each with the paths of its descriptors. */
export async function runTraced(
  repository: string,
  args: string[],
  { calls, log, fault, ...options }: TracedOptions,
): Promise<ProgramOutput> {
  // A run whose event loop lost a wake-up, which is a write too, would wait forever without a limit.
  // timeout(1) kills the process group; killing only strace would leave the runner alive.
  const through = [
    "timeout",
    "-s",
    "KILL",
    String(limitSeconds),
    "strace",
    "-qq",
    "-y",
    "-s",
    "0",
    "-o",
    log,
    "-e",
    `trace=${calls.map((call) => `?${call}`)}`,
  ];
  if (fault) through.push("-e", `inject=${fault.call}:${fault.what}:when=${fault.ordinal}`);
  return startProgram(repository, args, { ...options, through }).ended;
}

/** The calls in a log, numbered by name from 1, as strace counts them. */
export function callsIn(log: string): Call[] {
  const seen = new Map<string, number>();
  const calls: Call[] = [];
  for (const line of readFileSync(log, "latin1").split("\n")) {
    const name = /^(\w+)\(/.exec(line)?.[1];
    if (name === undefined) continue;
    const ordinal = (seen.get(name) ?? 0) + 1;
    seen.set(name, ordinal);
    calls.push({ name, ordinal, line });
  }
  return calls;
}

/** The call that failed on purpose. */
export function failedCall(log: string): Call | undefined {
  return callsIn(log).find(({ line }) => line.endsWith("(INJECTED)"));
}

/** Whether a call can change files below `root`. */
export function changes({ name, line }: Call, root: string): boolean {
  return line.includes(`${root}/`) && (name !== "openat" || /O_CREAT|O_WRONLY|O_RDWR|O_TRUNC/.test(line));
}

/** At most `most` of `all`, with the first and the last: a random one of each of `most` equal parts. */
export function sample<T>(all: T[], most: number, random: Random): T[] {
  if (process.env.MLRB_SWEEP === "full" || all.length <= most) return all;
  const begin = (part: number) => Math.floor((part * all.length) / most);
  return Array.from({ length: most }, (_, at) => {
    if (at === 0) return all[0]!;
    if (at === most - 1) return all.at(-1)!;
    return all[begin(at) + random.integer(begin(at + 1) - begin(at))]!;
  });
}
