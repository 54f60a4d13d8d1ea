// One call of the engine's command line program: as fast as its socket, without a protocol to keep up with, and a
// person can paste a failed call into a shell. Classifies errors in one place.
import { tmpdir } from "node:os";
import { shellWord } from "@mlrb/core/ports/command-line";
import { execa } from "execa";

export type EngineProgram = {
  /** `docker` or `podman`, found on PATH. */
  program: string;
  /** The program's environment; flags set that of a container. */
  env: NodeJS.ProcessEnv;
};

export type CallTrouble = {
  kind: (typeof kinds)[number][0] | "no-program" | "timed-out" | "other";
  /** Cause and way out, for reports too: without the line, which is long and holds paths. */
  detail: string;
  /** The call, to be pasted into a shell. */
  line: string;
};

export type CallResult = { ok: true; stdout: string } | { ok: false; trouble: CallTrouble; code?: number };

export type CallOptions = {
  timeMs: number;
  /** Variables that the line names without their values: secrets must not appear in a list of processes. */
  env?: Record<string, string>;
  input?: Uint8Array;
  /** Its folder; a shared one by default. */
  cwd?: string;
};

/** Never rejects. */
export async function callEngine(
  { program, env }: EngineProgram,
  args: readonly string[],
  { timeMs, env: more, input, cwd = tmpdir() }: CallOptions,
): Promise<CallResult> {
  const result = await execa(program, args, {
    env: { ...env, ...more },
    extendEnv: false,
    ...(input ? { input } : { stdin: "ignore" as const }),
    // a session of its own: Ctrl-C in the terminal must reach the runner only, which ends everything in order
    detached: true,
    // podman's helper leaves a file in this folder when a process was killed for lack of memory
    cwd,
    reject: false,
    timeout: Math.min(timeMs, 2 ** 31 - 1),
    forceKillAfterDelay: 2_000,
  });
  if (!result.failed) return { ok: true, stdout: result.stdout };
  const line = [program, ...args].map(shellWord).join(" ");
  const { timedOut, code: reason, exitCode, stderr, originalMessage } = result;
  const late = `the container engine did not answer within ${timeMs / 1000} s; is it busy or stuck?`;
  if (timedOut) return { ok: false, trouble: { kind: "timed-out", detail: late, line } };
  if (reason === "ENOENT")
    return { ok: false, trouble: { kind: "no-program", detail: wayOut(program)["no-program"]!, line } };
  const trouble = troubleOf(stderr.trim() || (originalMessage ?? ""), { program, line });
  return { ok: false, trouble, ...(exitCode !== undefined && { code: exitCode }) };
}

/** Classifies an engine's error text. Checked with docker 20.10 to 28.2 and podman 4.3. */
export function troubleOf(said: string, { program, line }: { program: string; line: string }): CallTrouble {
  const kind = kinds.find(([, words]) => words.test(said))?.[0] ?? "other";
  const own = said.replace(/\s+/g, " ").slice(-600);
  const help = wayOut(program)[kind];
  return { kind, detail: help ? `${help}: ${own}` : own, line };
}

const kinds = [
  ["not-allowed", /permission denied.*(daemon|socket|docker\.sock)|(daemon|socket).*permission denied/is],
  [
    "no-daemon",
    /cannot connect to the docker daemon|is the docker daemon running|dial unix.*(no such file|refused)|unable to connect to podman/i,
  ],
  [
    "engine-gone",
    // the last: while an engine starts or stops, a client does not learn its version and speaks the newest one
    /unexpected EOF|error during connect|connection reset by peer|broken pipe|context canceled|error waiting for container|transport is closing|grpc: the client connection is closing|ttrpc: closed|client version \S+ is too new/i,
  ],
  [
    "image-missing",
    /no such image|image not known|unable to find image|manifest unknown|pull access denied|not found: manifest/i,
  ],
  ["container-missing", /no such (container|object)|no container with (name or )?id/i],
  ["not-running", /is not running|can only (kill|pause|exec)|container state improper|is not paused/i],
] as const;

function wayOut(program: string): Partial<Record<CallTrouble["kind"], string>> {
  return {
    "no-program": `there is no \`${program}\` on the PATH; install Docker (docs/machines.md) or choose \`--executor local\``,
    "no-daemon": "no container engine answers; start it (e.g. `systemctl start docker`), or set DOCKER_HOST",
    "not-allowed":
      "this user may not use the container engine; add it to the group `docker`, or use rootless podman (MLRB_CONTAINER_ENGINE=podman)",
    "engine-gone": "the container engine went away during the call",
    "image-missing": "the image does not exist here",
  };
}
