// One set of namespaces with its first process, as the supervisor sees it: runs programs in it, and ends
// everything that was started in it.
import type { ChildProcess } from "node:child_process";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecRequest, ExecResult } from "@mlrb/core/ports/sandbox";
import { quiet } from "@mlrb/kit/processes/process-table";
import { type Answer, answerReader, requestBytes } from "./init-channel.ts";
import { isGone } from "./namespace-processes.ts";

type Program = { request: ExecRequest; resolve(result: ExecResult): void };

export class SandboxProcess {
  readonly #child: ChildProcess;
  readonly #programs = new Map<number, Program>();
  readonly #ready = Promise.withResolvers<"ready" | "ended">();
  readonly #informed: Promise<number | undefined>;
  readonly #whenEnded: Promise<void>;
  #first: number | undefined;
  #count = 0;
  #endedByUs = false;
  #ended = false;
  #complaint = "";

  /** `child` is bubblewrap. `first` resolves with the host's pid of the first process in its namespaces. */
  constructor(child: ChildProcess, first: Promise<number | undefined>) {
    this.#child = child;
    this.#informed = first;
    this.#whenEnded = endOf(child).then((how) => this.#resolvePrograms(how));
    child.stdout!.on(
      "data",
      answerReader((answer) => this.#take(answer)),
    );
    child.stderr!.on("data", (bytes: Buffer) => {
      this.#complaint = (this.#complaint + bytes).slice(-2000);
    });
    for (const stream of child.stdio) (stream as Duplex | null)?.on("error", () => {}); // its end reports it
  }

  /** Undefined once the first process takes requests. Otherwise bubblewrap has ended. */
  async failedToBegin(): Promise<string | undefined> {
    const begun = await this.#ready.promise;
    const first = await Promise.race([this.#informed, this.#whenEnded]);
    if (first !== undefined) this.#first = first;
    if (begun === "ready" && this.#first !== undefined) return undefined;
    this.#child.kill("SIGKILL");
    await this.#whenEnded;
    return lastLine(this.#complaint, "bubblewrap ended before it had begun");
  }

  /** The host's pid of the first process. */
  get first(): number {
    return this.#first!;
  }

  living(): boolean {
    return !this.#ended;
  }

  async exec(request: ExecRequest): Promise<ExecResult> {
    const id = ++this.#count;
    const bytes = requestBytes(id, request);
    if (this.#ended) return { kind: "lost", detail: lastLine(this.#complaint, "the sandbox has ended") };
    return new Promise((resolve) => {
      this.#programs.set(id, { request, resolve });
      this.#child.stdin!.write(bytes);
    });
  }

  /** Ends everything inside. Throws if the first process does not end. */
  async end(): Promise<void> {
    const pid = this.first;
    this.#endedByUs = true;
    const kill = () => quiet(() => process.kill(pid, "SIGKILL")); // it may be gone already
    if (!this.#ended) kill();
    // bubblewrap ends after its first process, which ends after everything in its namespace
    for (let round = 0; round < 1000 && !(this.#ended && isGone(pid)); round++) {
      await Promise.race([this.#whenEnded, sleep(10)]);
      if (!isGone(pid)) kill();
    }
    if (!isGone(pid))
      throw new Error(
        `the first process of the sandbox, ${pid}, would not end; end it by hand and run again`,
      );
  }

  #take(answer: Answer): void {
    if (answer.kind === "ready") return void this.#ready.resolve("ready");
    const program = this.#programs.get(answer.id);
    if (!program) return;
    if (answer.kind === "output") return void program.request.onOutput(answer.stream, answer.bytes);
    this.#programs.delete(answer.id);
    program.resolve(answer.result);
  }

  #resolvePrograms(how: string): void {
    this.#ended = true;
    this.#ready.resolve("ended");
    const result: ExecResult = this.#endedByUs
      ? { kind: "signalled", signal: "SIGKILL" }
      : { kind: "lost", detail: lastLine(this.#complaint, `bubblewrap ${how}`) };
    for (const { resolve } of this.#programs.values()) resolve(result);
    this.#programs.clear();
  }
}

/** Resolves with how it ended. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, signal) =>
      resolve(signal ? `ended by ${signal}` : `ended with exit code ${code}`),
    );
  });
}

function lastLine(text: string, otherwise: string): string {
  return text.trimEnd().split("\n").at(-1) || otherwise;
}
