// One set of namespaces with its first process: bubblewrap started, asked for programs, and ended with
// everything that was started in it.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecRequest, ExecResult } from "@mlrb/core/ports/sandbox";
import type { BubblewrapArguments, DescriptorInput } from "./bubblewrap-arguments.ts";
import { type Answer, answerReader, requestBytes } from "./init-channel.ts";
import { isGone } from "./namespace-processes.ts";

export type BubblewrapProcess = {
  /** The first process as the host numbers it. */
  readonly first: number;
  exec(request: ExecRequest): Promise<ExecResult>;
  /** Ends everything inside; throws where something would not end. */
  end(): Promise<void>;
  living(): boolean;
};

type Program = { request: ExecRequest; resolve(result: ExecResult): void };

/** `initArguments` follow the program; `groups` are descriptors that the first process gets, and are closed here. `token` marks bubblewrap itself, not what runs inside. */
export async function startBubblewrap(
  { argv, given }: BubblewrapArguments,
  initArguments: (groups: number[]) => string[],
  groups: number[],
  token: string,
): Promise<BubblewrapProcess | { failed: string }> {
  const descriptors = [...given.map(descriptorOf), ...groups];
  const at = (index: number) => String(4 + index); // after the usual three and the one for information
  let child: ChildProcess;
  try {
    child = spawn(
      "bwrap",
      [
        ...["--info-fd", "3"],
        ...argv.map((argument) => argument.replace(/^\{fd:(\d+)\}$/, (_, index) => at(Number(index)))),
        ...initArguments(groups.map((_, index) => Number(at(given.length + index)))),
      ],
      { stdio: ["pipe", "pipe", "pipe", "pipe", ...descriptors], env: { MLRB_TOKEN: token }, cwd: "/" },
    );
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
  const programs = new Map<number, Program>();
  let count = 0;
  let first: number | undefined;
  let byUs = false;
  let complaint = "";
  let ended = false;
  let ready: (value: "ready" | "ended") => void = () => {};
  const whenReady = new Promise<"ready" | "ended">((resolve) => {
    ready = resolve;
  });
  const whenInformed = information(child.stdio[3] as Readable).then((pid) => {
    first = pid;
  });
  const whenEnded = new Promise<string>((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, signal) =>
      resolve(signal ? `ended by ${signal}` : `ended with exit code ${code}`),
    );
  }).then((how) => {
    ended = true;
    ready("ended");
    for (const { resolve } of programs.values())
      resolve(
        byUs
          ? { kind: "signalled", signal: "SIGKILL" }
          : { kind: "lost", detail: lastLine(complaint, `bubblewrap ${how}`) },
      );
    programs.clear();
  });

  const take = (answer: Answer) => {
    if (answer.kind === "ready") return ready("ready");
    const program = programs.get(answer.id);
    if (answer.kind === "output") return program?.request.onOutput(answer.stream, answer.bytes);
    if (!program) return;
    programs.delete(answer.id);
    program.resolve(resultOf(answer));
  };
  child.stdout!.on("data", answerReader(take));
  child.stderr!.on("data", (bytes: Buffer) => {
    complaint = (complaint + bytes).slice(-2000);
  });
  for (const stream of child.stdio) (stream as Duplex | null)?.on("error", () => {}); // told by its end
  const came = await whenReady;
  await Promise.race([whenInformed, whenEnded]);
  if (came === "ended" || first === undefined) {
    child.kill("SIGKILL");
    await whenEnded;
    return { failed: lastLine(complaint, "bubblewrap ended before it had begun") };
  }

  const pid = first;
  return {
    first: pid,
    living: () => !ended,
    async exec(request) {
      const id = ++count;
      const bytes = requestBytes(id, request);
      if (ended) return { kind: "lost", detail: lastLine(complaint, "the sandbox has ended") };
      return new Promise((resolve) => {
        programs.set(id, { request, resolve });
        child.stdin!.write(bytes);
      });
    },
    async end() {
      byUs = true;
      if (!ended) kill(pid);
      // its parent ends after it, and it after everything that was started in its namespace
      for (let round = 0; round < 1000 && !(ended && isGone(pid)); round++) {
        await Promise.race([whenEnded, sleep(10)]);
        if (!isGone(pid)) kill(pid);
      }
      if (!isGone(pid))
        throw new Error(
          `the first process of the sandbox, ${pid}, would not end; end it by hand and run again`,
        );
    },
  };
}

/** A descriptor to read the text from; the file behind it has no name. */
function descriptorOf({ text }: DescriptorInput): number {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-given-"));
  try {
    const path = join(folder, "text");
    const write = openSync(path, "wx");
    writeSync(write, text as string);
    closeSync(write);
    return openSync(path, "r");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The pid of the first process, as bubblewrap tells it in JSON. Read to the end: cut short, bubblewrap would die of it half-way. */
async function information(stream: Readable): Promise<number | undefined> {
  let text = "";
  for await (const piece of stream) text += piece;
  const pid = /"child-pid":\s*(\d+)/.exec(text)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

function resultOf(answer: Extract<Answer, { id: number }>): ExecResult {
  switch (answer.kind) {
    case "exited":
      return { kind: "exited", code: answer.code };
    case "signalled":
      return { kind: "signalled", signal: signalName(answer.number) };
    case "not-started":
      return { kind: "not-started", detail: answer.detail };
    case "output":
      throw new Error("bug: output ends no program");
  }
}

function signalName(number: number): string {
  const found = Object.entries(constants.signals).find(([, one]) => one === number);
  return found?.[0] ?? `signal ${number}`;
}

function lastLine(text: string, otherwise: string): string {
  return text.trimEnd().split("\n").at(-1) || otherwise;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // gone already
  }
}
