// Runs the command line of a repository, and returns its output.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { warmForkServer } from "./warm-python.ts";

// biome-ignore lint/suspicious/noExplicitAny: a line is the program's output; tests assert the fields that they read
export type Line = Record<string, any>;

export type ProgramOutput = {
  /** Exit status; null after a signal. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** The lines of stdout as JSON. Throws on the first line that is not JSON. */
  readonly lines: Line[];
};

export type Started = {
  child: ChildProcess;
  /** The output on stdout so far. */
  stdout(): string;
  stderr(): string;
  ended: Promise<ProgramOutput>;
};

export type ProgramOptions = {
  cwd?: string;
  /** The environment, except PATH and HOME. */
  env?: Record<string, string>;
  /** A program that wraps the command, with its arguments: strace, faketime. */
  through?: string[];
};

/** Starts `pipeline ARGS` of the repository at `path`. */
export function startProgram(path: string, args: string[], options: ProgramOptions = {}): Started {
  const program = join(path, "runners/cli/bin/pipeline.js");
  const through = options.through ?? [];
  const command = [...through, process.execPath, ...nodeFlags, program, ...args];
  const child = spawn(command[0]!, command.slice(1), {
    cwd: options.cwd ?? path,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...warmForkServer(), ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stdout = textOf(child.stdout);
  const stderr = textOf(child.stderr);
  const ended = new Promise<ProgramOutput>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      resolve({
        code,
        signal,
        stdout: stdout(),
        stderr: stderr(),
        get lines() {
          return parseLines(stdout());
        },
      });
    });
  });
  return { child, stdout, stderr, ended };
}

/** Complete lines only: a killed program may leave half a line. */
export function parseLines(stdout: string): Line[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      try {
        return JSON.parse(line) as Line;
      } catch {
        throw new Error(`not a line of JSON on stdout: ${line}`);
      }
    });
}

/** Decodes as a stream, so that a character in two chunks stays whole. */
function textOf(stream: Readable): () => string {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
