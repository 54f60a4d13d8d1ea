// Runs one program in a running container, by the engine's `exec`. The client's own exit codes (125 to 127) may be
// the program's too, so a shell inside first reports on standard error that it is about to become the program. The
// command travels in a variable: every user of the host can read a command line.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { shellWord } from "@mlrb/core/ports/command-line";
import type { ExecRequest } from "@mlrb/core/ports/sandbox";
import { signalName } from "@mlrb/kit/processes/exit-detail";
import type { ContainerEngine } from "./container-engine.ts";

export type ProgramEnd =
  | { kind: "exited"; code: number }
  | { kind: "signalled"; signal: string }
  /** The program does not exist. */
  | { kind: "missing" }
  /** The client ended before the program began; `said` is its output. */
  | { kind: "not-begun"; said: string };

export type ProgramInContainer = ReturnType<typeof runInContainer>;

const loader = 'line=$MLRB_LINE; unset MLRB_LINE; eval "$line"';

export function runInContainer(
  { program, env }: ContainerEngine,
  { id, user, request }: { id: string; user: string; request: ExecRequest },
) {
  const mark = `mlrb-${randomBytes(16).toString("hex")}`;
  const { MLRB_TOKEN: _, ...visible } = env;
  const child = spawn(
    program,
    ["exec", "--user", user, "--workdir", request.cwd, "--env", "MLRB_LINE", id, "/bin/sh", "-c", loader],
    {
      env: { ...visible, MLRB_LINE: lineOf(request, mark) },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
      cwd: tmpdir(),
    },
  );
  const begun = Buffer.from(`${mark} begins\n`);
  const missing = Buffer.from(`${mark} missing\n`);
  let head: Buffer | undefined = Buffer.alloc(0);
  let state: "not-begun" | "begun" | "missing" = "not-begun";
  const { promise: begins, resolve: hasBegun } = Promise.withResolvers<void>();
  child.stdout.on("data", (bytes: Uint8Array) => request.onOutput("stdout", bytes));
  child.stderr.on("data", (bytes: Buffer) => {
    if (head === undefined) return request.onOutput("stderr", bytes);
    head = Buffer.concat([head, bytes]);
    if (head.includes(missing)) state = "missing";
    const at = head.indexOf(begun);
    if (at < 0) return;
    state = "begun";
    hasBegun();
    const rest = head.subarray(at + begun.length);
    head = undefined;
    if (rest.length > 0) request.onOutput("stderr", rest);
  });
  const ended = new Promise<ProgramEnd>((resolve) => {
    const done = (code: number | null, said?: string) => {
      if (state === "missing") resolve({ kind: "missing" });
      else if (state === "not-begun")
        resolve({ kind: "not-begun", said: said ?? head?.toString("utf8").trim() ?? "" });
      else resolve(endOf(code ?? 1));
    };
    child.on("error", (error) => done(null, error.message));
    // not "close": a detached child that holds the pipe open must not hold the attempt open
    child.on("exit", (code) => {
      const patience = setTimeout(() => done(code), 500);
      child.on("close", () => {
        clearTimeout(patience);
        done(code);
      });
    });
  });
  return {
    /** Resolves once the engine has started the program, or has failed to. */
    begun: Promise.race([begins, ended.then(() => {})]),
    ended,
    forget: () => void child.kill("SIGKILL"),
  };
}

/** The line for the shell inside: the program sees the requested variables and no others. */
function lineOf({ argv, env }: ExecRequest, mark: string): string {
  const [program] = argv;
  const variables = Object.entries(env).map(([name, value]) => shellWord(`${name}=${value}`));
  return [
    `PATH=${shellWord(env.PATH ?? "/usr/bin:/bin")}`,
    `command -v ${shellWord(program!)} >/dev/null || { echo ${mark} missing >&2; exit 127; }`,
    `echo ${mark} begins >&2`,
    `exec env -i ${variables.join(" ")} ${argv.map(shellWord).join(" ")}`,
  ].join("\n");
}

/** A signal comes as 128 and its number. A program that exits with such a code itself means the same. */
function endOf(code: number): ProgramEnd {
  const signal = signalName(code - 128);
  return signal === undefined || code >= 160 ? { kind: "exited", code } : { kind: "signalled", signal };
}
