// A process that starts programs when asked: one JSON line a job, one JSON line an answer. Spoken by
// spawner.py, which executes what it is asked for, and by fork_server.py, which forks it from itself.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

export type JobEnd =
  /** One of `code` and `signal` is null. `peakMemoryBytes` of the largest process it waited for, where known. */
  | { kind: "ended"; code: number | null; signal: string | null; peakMemoryBytes?: number }
  | { kind: "failed"; detail: string };

export type Spawned = { pid: number; ended: Promise<JobEnd> };

export type SpawnerHelper<Job> = {
  /** Undefined once it answers, else in a few words why it never will. */
  ready: Promise<string | undefined>;
  living(): boolean;
  /** Only once it is ready, and while it lives. */
  spawn(job: Job): Promise<Spawned | { failed: string }>;
  /** To be called when no job is left. */
  close(): void;
};

export type SpawnerHelperOptions = {
  /** The program and its arguments. */
  argv: string[];
  cwd: string;
  env?: Record<string, string>;
  /** After how long without an answer it is given up. */
  readyMs: number;
};

type Waiting = {
  begun: (spawned: Spawned | { failed: string }) => void;
  end: (end: JobEnd) => void;
  ended: Promise<JobEnd>;
};

type Answer = { ready?: true; id?: number; pid?: number; failed?: string } & Partial<
  JobEnd & { kind: "ended" }
>;

const lostDetail = "the process that starts programs ended";

export function spawnerHelper<Job extends object>(options: SpawnerHelperOptions): SpawnerHelper<Job> {
  const [program, ...args] = options.argv;
  const jobs = new Map<number, Waiting>();
  let living = true;
  let answered = false;
  let last = 0;
  let pending = "";
  const { promise: ready, resolve: isReady } = Promise.withResolvers<string | undefined>();
  const child: ChildProcess = spawn(program!, args, {
    cwd: options.cwd,
    ...(options.env && { env: options.env }),
    stdio: ["pipe", "pipe", "ignore"],
  });
  /** Only while a job runs does the helper keep this process alive. */
  const hold = (on: boolean) => {
    for (const one of [child, pipe(child.stdout)]) on ? one.ref() : one.unref();
  };
  const lost = () => {
    living = false;
    isReady("it ended");
    for (const [id, { begun, end }] of jobs) {
      jobs.delete(id);
      begun({ failed: lostDetail });
      end({ kind: "failed", detail: lostDetail });
    }
  };
  const giveUp = () => {
    if (answered) return;
    living = false;
    isReady("it does not answer");
    child.kill("SIGKILL");
  };
  // after a look at what it said: this process may have been busy for as long, and not it
  const timer = setTimeout(() => setImmediate(giveUp), options.readyMs);
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
    const { id, pid, failed, code = null, signal = null, peakMemoryBytes } = answer;
    if (id === undefined) {
      clearTimeout(timer);
      answered = true;
      pipe(child.stdin).unref();
      hold(false);
      return isReady(failed);
    }
    const waiting = jobs.get(id);
    if (!waiting) return;
    if (pid !== undefined) return waiting.begun({ pid, ended: waiting.ended });
    jobs.delete(id);
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
    close() {
      // one that is busy getting ready would hear of it only afterwards
      if (answered) child.stdin!.end();
      else child.kill("SIGKILL");
    },
  };
}

function pipe(stream: unknown): { ref(): void; unref(): void } {
  return stream as Socket;
}
