// Starts programs from a small process of its own (spawner.py), because starting one costs the memory of
// who starts it: the runner holds the plan. Where that process cannot be had (no Python, not Linux), or
// ends, programs are started from here.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Socket } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export type Job = {
  /** The program, looked up on the PATH of `env`, and its arguments. */
  argv: string[];
  /** All that it sees. */
  env: Record<string, string>;
  /** Absolute; its output is appended to it, by descriptor: what it says survives the runner. */
  log: string;
};

export type JobEnd =
  /** One of `code` and `signal` is null. `peakMemoryBytes` of the largest process it waited for, where known. */
  | { kind: "ended"; code: number | null; signal: string | null; peakMemoryBytes?: number }
  | { kind: "failed"; detail: string };

export type Spawned = { pid: number; ended: Promise<JobEnd> };

export type Spawner = {
  /** Each job leads a process group and a session of its own. */
  spawn(job: Job): Promise<Spawned | { failed: string }>;
  /** To be called when no job is left. */
  close(): void;
};

/** How long Python may take to answer; a shim that installs it when asked would take minutes. */
const readyMs = 5_000;

/** `root` becomes every job's working directory. With `python: null` programs are started from here. */
export function startSpawner(root: string, { python = "python3" }: { python?: string | null } = {}): Spawner {
  const direct = directSpawner(root);
  if (python === null || process.platform !== "linux") return direct;
  const helper = startHelper(root, python);
  return {
    async spawn(job) {
      return (await helper.ready) && helper.living() ? helper.spawn(job) : direct.spawn(job);
    },
    close: () => helper.close(),
  };
}

type Waiting = {
  begun: (spawned: Spawned | { failed: string }) => void;
  end: (end: JobEnd) => void;
  ended: Promise<JobEnd>;
};

type Answer = { ready?: true; id?: number; pid?: number; failed?: string } & Partial<
  JobEnd & { kind: "ended" }
>;

type Helper = Spawner & { ready: Promise<boolean>; living(): boolean };

function startHelper(root: string, python: string): Helper {
  const program = join(dirname(fileURLToPath(import.meta.url)), "spawner.py");
  const jobs = new Map<number, Waiting>();
  let living = true;
  let answered = false;
  let last = 0;
  let pending = "";
  const { promise: ready, resolve: isReady } = Promise.withResolvers<boolean>();
  const child: ChildProcess = spawn(python, ["-I", "-S", "-B", program], {
    cwd: root,
    stdio: ["pipe", "pipe", "ignore"],
  });
  /** Only while a job runs does the helper keep this process alive. */
  const hold = (on: boolean) => {
    for (const one of [child, pipe(child.stdout)]) on ? one.ref() : one.unref();
  };
  const lost = () => {
    living = false;
    isReady(false);
    for (const [id, { begun, end }] of jobs) {
      jobs.delete(id);
      begun({ failed: "the process that starts programs ended" });
      end({ kind: "failed", detail: "the process that starts programs ended" });
    }
  };
  // a runner that was busy for that long has not heard yet what was answered in time
  const timer = setTimeout(() => setImmediate(() => answered || child.kill("SIGKILL")), readyMs);
  child.on("error", lost).on("close", () => {
    clearTimeout(timer);
    lost();
  });
  child.stdin!.on("error", () => {}); // it ended: `close` says so
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    const lines = (pending + text).split("\n");
    pending = lines.pop()!;
    for (const line of lines) hear(JSON.parse(line) as Answer);
  });
  const hear = (answer: Answer) => {
    if (answer.ready) {
      answered = true;
      clearTimeout(timer);
      pipe(child.stdin).unref();
      hold(false);
      return isReady(true);
    }
    const { id, pid, failed, code = null, signal = null, peakMemoryBytes } = answer;
    const waiting = jobs.get(id!);
    if (!waiting) return;
    if (pid !== undefined) return waiting.begun({ pid, ended: waiting.ended });
    jobs.delete(id!);
    if (jobs.size === 0) hold(false);
    if (failed !== undefined) return waiting.begun({ failed });
    waiting.end({ kind: "ended", code, signal, ...(peakMemoryBytes !== undefined && { peakMemoryBytes }) });
  };
  return {
    ready,
    living: () => living,
    spawn(job) {
      const { promise, resolve } = Promise.withResolvers<Spawned | { failed: string }>();
      const { promise: ended, resolve: end } = Promise.withResolvers<JobEnd>();
      const id = ++last;
      jobs.set(id, { begun: resolve, end, ended });
      hold(true);
      child.stdin!.write(`${JSON.stringify({ id, ...job })}\n`);
      return promise;
    },
    close: () => child.stdin!.end(),
  };
}

function pipe(stream: unknown): { ref(): void; unref(): void } {
  return stream as Socket;
}

function directSpawner(root: string): Spawner {
  return {
    async spawn({ argv: [file, ...args], env, log }) {
      const { execa } = await import("execa");
      const output = openSync(log, "a");
      const child = execa(file!, args, {
        cwd: root,
        env,
        extendEnv: false,
        stdin: "ignore",
        stdout: output as 3, // any descriptor works; the type lists the first few
        stderr: output as 3,
        detached: true, // a process group of its own; a Ctrl-C in the terminal reaches the runner only
        cleanup: true,
        reject: false,
        buffer: false,
      });
      closeSync(output);
      if (child.pid === undefined) {
        const { cause, shortMessage } = await child;
        return { failed: (cause as Error | undefined)?.message ?? shortMessage ?? "cannot be started" };
      }
      const ended = (async (): Promise<JobEnd> => {
        const { exitCode, signal } = await child;
        return { kind: "ended", code: exitCode ?? null, signal: signal ?? null };
      })();
      return { pid: child.pid, ended };
    },
    close() {},
  };
}
