// A helper process that starts programs: one JSON line per job, one JSON line per answer. spawner.py executes each
// job; fork_server.py forks each job from itself.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import { ifReadable } from "../store/if-readable.ts";

export type JobEnd =
  /**
   * One of `code` and `signal` is null. `alone`: no process that the job started is left, in whichever session:
   * the helper, to which every orphan goes, has no child that does not lead another job.
   */
  | { kind: "ended"; code: number | null; signal: string | null; alone?: true }
  | { kind: "failed"; detail: string };

export type Spawned = { pid: number; ended: Promise<JobEnd> };

type SpawnerHelperOptions = {
  /** The program and its arguments. */
  argv: string[];
  cwd: string;
  env?: Record<string, string>;
  /** Time without an answer after which the helper is killed. */
  readyMs: number;
};

type Waiting = {
  begun: (spawned: Spawned | { failed: string }) => void;
  end: (end: JobEnd) => void;
  ended: Promise<JobEnd>;
};

type Answer = { id?: number; pid?: number; failed?: string } & Partial<JobEnd & { kind: "ended" }>;

/** Needs no search of PATH. A shim on PATH (pyenv) takes 0.3 to 0.6 s to start Python, which the first stage waits for. */
const systemPython = "/usr/bin/python3";

/** The Python of helper processes. */
export const helperPython = existsSync(systemPython) ? systemPython : "python3";

/** Space for a job's token in the variables of a helper that forks: the system shows those also for the child. */
export const tokenRoom = "-".repeat(256);

const lostDetail = "the process that starts programs ended";

export class SpawnerHelper<Job extends object> {
  readonly #child: ChildProcess;
  readonly #jobs = new Map<number, Waiting>();
  readonly #ready = Promise.withResolvers<string | undefined>();
  readonly #timer: NodeJS.Timeout;
  #living = true;
  #answered = false;
  #last = 0;

  constructor({ argv: [program, ...args], cwd, env, readyMs }: SpawnerHelperOptions) {
    this.#child = spawn(program!, args, { cwd, ...(env && { env }), stdio: ["pipe", "pipe", "ignore"] });
    // this process may have been busy for that time: first read the helper's output
    this.#timer = setTimeout(() => setImmediate(() => this.#giveUp()), readyMs);
    this.#child
      .on("error", () => this.#lose())
      .on("close", () => {
        clearTimeout(this.#timer);
        this.#lose();
      });
    this.#child.stdin!.on("error", () => {}); // the helper ended: `close` reports the end
    createInterface({ input: this.#child.stdout! }).on("line", (line) => {
      const answer = parsed(line);
      if (answer) this.#hear(answer);
      else this.#child.kill("SIGKILL"); // `close` fails its jobs
    });
  }

  /** Undefined once the helper answers; otherwise the reason why it never will. */
  get ready(): Promise<string | undefined> {
    return this.#ready.promise;
  }

  living(): boolean {
    return this.#living;
  }

  /** Call only after the helper is ready, and while it is alive. */
  spawn(job: Job): Promise<Spawned | { failed: string }> {
    const { promise, resolve } = Promise.withResolvers<Spawned | { failed: string }>();
    const { promise: ended, resolve: end } = Promise.withResolvers<JobEnd>();
    const id = ++this.#last;
    this.#jobs.set(id, { begun: resolve, end, ended });
    this.#hold(true);
    this.#child.stdin!.write(`${JSON.stringify({ id, ...job })}\n`);
    return promise;
  }

  /** Call when no job is left. */
  close(): void {
    // a helper that is still importing would notice the closed pipe only after its imports
    if (this.#answered) this.#child.stdin!.end();
    else this.#child.kill("SIGKILL");
  }

  #hear({ id, pid, failed, code, signal = null, alone }: Answer): void {
    if (id === undefined) {
      clearTimeout(this.#timer);
      this.#answered = true;
      pipe(this.#child.stdin).unref();
      this.#hold(false);
      this.#ready.resolve(failed);
      return;
    }
    const waiting = this.#jobs.get(id);
    if (!waiting) return;
    if (pid !== undefined) waiting.begun({ pid, ended: waiting.ended });
    if (failed === undefined && code === undefined) return; // a short job's start and end are one answer
    this.#jobs.delete(id);
    if (this.#jobs.size === 0) this.#hold(false);
    if (failed !== undefined) waiting.begun({ failed });
    else waiting.end({ kind: "ended", code: code ?? null, signal, ...(alone && { alone }) });
  }

  #lose(): void {
    this.#living = false;
    this.#ready.resolve("it ended");
    for (const [id, { begun, end }] of this.#jobs) {
      this.#jobs.delete(id);
      begun({ failed: lostDetail });
      end({ kind: "failed", detail: lostDetail });
    }
  }

  #giveUp(): void {
    if (this.#answered) return;
    this.#living = false;
    this.#ready.resolve("it does not answer");
    this.#child.kill("SIGKILL");
  }

  /** The helper keeps this process alive only while a job runs. */
  #hold(on: boolean): void {
    for (const one of [this.#child, pipe(this.#child.stdout)]) on ? one.ref() : one.unref();
  }
}

/** Undefined for a line that is not an answer, e.g. one that an imported library printed. */
function parsed(line: string): Answer | undefined {
  const answer: unknown = ifReadable(() => JSON.parse(line));
  return answer !== null && typeof answer === "object" ? answer : undefined;
}

function pipe(stream: unknown): { ref(): void; unref(): void } {
  return stream as Socket;
}
