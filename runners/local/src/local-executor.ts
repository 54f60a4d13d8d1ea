// Runs a stage instance as processes on this machine. Limits are enforced from here, and an instance
// has ended only when nothing it started is left, detached children included.
import { appendFileSync, closeSync, openSync } from "node:fs";
import { constants as os } from "node:os";
import type { ExecutionRequest, ExecutionResult, Executor, Running } from "@mlrb/core/executor";
import { formatDuration } from "@mlrb/core/units";
import { endProcesses, memoryHeld, ticksNow } from "@mlrb/kit/end-processes";
import { execa } from "execa";

/** How long a process that was asked to end may take before it is killed. */
const graceMs = 5_000;
/** How often memory is looked at, where it is limited. */
const meterMs = 250;

export const localExecutor: Executor = { name: "local", start };

function start(request: ExecutionRequest): Running {
  const { token } = request;
  const [file, ...args] = commandLine(request);
  const log = openSync(request.log, "a");
  const since = ticksNow();
  const child = execa(file!, args, {
    cwd: request.root,
    env: { ...request.env, MLRB_TOKEN: token },
    extendEnv: false,
    stdin: "ignore",
    // by descriptor: what it says reaches the disk even when the runner is killed
    stdout: log as 3, // any descriptor works; the type lists the first few
    stderr: log as 3,
    detached: true, // a process group of its own; a Ctrl-C in the terminal reaches the runner only
    cleanup: true,
    reject: false,
    buffer: false,
  });
  closeSync(log);

  let why: "time-limit" | "out-of-memory" | "cancelled" | undefined;
  const signal = (name: NodeJS.Signals) => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, name);
    } catch {
      // it is gone already
    }
  };
  const timers: NodeJS.Timeout[] = [];
  const end = (reason: "time-limit" | "cancelled") => {
    why ??= reason;
    signal("SIGTERM");
    timers.push(setTimeout(() => signal("SIGKILL"), graceMs));
  };
  const { timeMs } = request.limits;
  const limit = performance.now() + (timeMs ?? 0);
  /** A timer holds 24.8 days at most; a longer limit takes several. */
  const watch = () => {
    const left = limit - performance.now();
    if (left <= 0) end("time-limit");
    else timers.push(setTimeout(watch, Math.min(left, 2 ** 31 - 1)));
  };
  if (timeMs !== undefined) watch();

  const { memoryBytes } = request.limits;
  const known = {
    token,
    root: request.work,
    groups: child.pid === undefined ? [] : [child.pid],
    since,
    first: child.pid ?? 0,
  };
  const meter =
    memoryBytes === undefined
      ? undefined
      : setInterval(() => {
          if (memoryHeld(known) <= memoryBytes) return;
          why ??= "out-of-memory";
          signal("SIGKILL"); // what is detached from the group is ended with the rest, below
        }, meterMs);

  const ended = (async (): Promise<ExecutionResult> => {
    const result = await child;
    for (const timer of timers) clearTimeout(timer);
    clearInterval(meter);
    try {
      await endProcesses(known);
    } catch (error) {
      return { kind: "failed", cause: "machine", detail: (error as Error).message };
    }
    if (why === "cancelled") return { kind: "cancelled" };
    if (why === "time-limit") {
      const detail = `did not end within ${formatDuration(timeMs!)}`;
      appendFileSync(request.log, `mlrb: ${detail} (limits.time) and was ended\n`);
      return { kind: "failed", cause: "time-limit", detail };
    }
    if (why === "out-of-memory") {
      const detail = `held more than ${memoryBytes} bytes of memory`;
      appendFileSync(request.log, `mlrb: ${detail} (limits.memory) and was ended\n`);
      return { kind: "failed", cause: "out-of-memory", detail };
    }
    if (child.pid === undefined) {
      const detail =
        (result.cause as Error | undefined)?.message ?? result.shortMessage ?? "cannot be started";
      appendFileSync(request.log, `mlrb: ${detail}\n`);
      return { kind: "failed", cause: "machine", detail };
    }
    if (result.exitCode === 0) return { kind: "succeeded" };
    if (result.signal) {
      const detail = `ended by ${result.signal}${result.signal === "SIGKILL" ? " (perhaps for lack of memory)" : ""}`;
      return { kind: "failed", cause: "exit-code", detail };
    }
    const code = result.exitCode ?? 1;
    const by =
      code > 128 && code < 160
        ? Object.entries(os.signals).find(([, number]) => number === code - 128)?.[0]
        : undefined;
    return { kind: "failed", cause: "exit-code", detail: `exit status ${code}${by ? ` (${by})` : ""}` };
  })();

  return {
    ended,
    askToEnd: () => end("cancelled"),
    kill: () => {
      why ??= "cancelled";
      signal("SIGKILL");
    },
  };
}

function commandLine({ run, root, python, inputs, outputs }: ExecutionRequest): string[] {
  switch (run.kind) {
    case "script":
      return [process.execPath, "--disable-warning=ExperimentalWarning", `${root}/${run.file}`];
    case "python":
      if (!python) throw new Error("bug: a python stage without an environment");
      return [python, `${root}/${run.file}`];
    case "command": {
      const paths = new Map<string, string>();
      for (const [name, path] of Object.entries(inputs)) paths.set(`inputs.${name}`, path);
      for (const [name, path] of Object.entries(outputs)) paths.set(`outputs.${name}`, path);
      const fill = (text: string, quote: (path: string) => string) =>
        text.replace(/\{((?:inputs|outputs)\.[\w.-]+)\}/g, (all, name) =>
          paths.has(name) ? quote(paths.get(name)!) : all,
        );
      if (typeof run.command === "string") return ["/bin/sh", "-c", fill(run.command, shellWord)];
      return run.command.map((part) => fill(part, (path) => path));
    }
  }
}

/** A path as one word of a shell line; plain paths stay readable. */
function shellWord(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
