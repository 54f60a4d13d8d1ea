// Starts programs from a small helper process (spawner.py): the cost of a start grows with the memory of the
// starting process, and the runner holds the plan. This process starts the programs without the helper (no Python,
// not Linux), or after the helper ended.
import { closeSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { helperPython, type JobEnd, type Spawned, SpawnerHelper, tokenRoom } from "./spawner-helper.ts";
import type { WallsDescription } from "./walls.ts";

export type Job = {
  /** The program, looked up on the PATH of `env`, and its arguments. */
  argv: string[];
  /** All variables of the program. */
  env: Record<string, string>;
  /** Absolute. The program appends its output by descriptor, so the output survives the runner. */
  log: string;
  /** The walls around it. `argv` builds them and runs the program inside, where there is no helper. */
  walls?: { described: WallsDescription; argv: string[] };
};

export type Spawner = {
  /** Each job leads a process group and a session of its own. */
  spawn(job: Job): Promise<Spawned | { failed: string }>;
  /** Call when no job is left. */
  close(): void;
};

/** Time for Python to answer; a shim that installs Python on demand would take minutes. */
const readyMs = 5_000;

/** `root` becomes every job's working directory. With `python: null`, this process starts the programs. */
export function startSpawner(root: string, python: string | null = helperPython): Spawner {
  const direct = directSpawner(root);
  if (python === null || process.platform !== "linux") return { spawn: direct, close() {} };
  const program = join(dirname(fileURLToPath(import.meta.url)), "spawner.py");
  const argv = [python, "-I", "-S", "-B", program];
  const env = { ...(process.env as Record<string, string>), MLRB_TOKEN: tokenRoom };
  const helper = new SpawnerHelper<object>({ argv, cwd: root, env, readyMs });
  return {
    async spawn(job) {
      const trouble = await helper.ready;
      return trouble === undefined && helper.living()
        ? helper.spawn({ ...job, walls: job.walls?.described })
        : direct(job);
    },
    close: () => helper.close(),
  };
}

function directSpawner(root: string): Spawner["spawn"] {
  return async ({ argv, env, log, walls }) => {
    const { execa } = await import("execa");
    const [file, ...args] = walls?.argv ?? argv;
    const output = openSync(log, "a");
    const child = execa(file!, args, {
      cwd: root,
      env,
      extendEnv: false,
      stdin: "ignore",
      stdout: output as 3, // any descriptor works; the type lists the first few
      stderr: output as 3,
      detached: true, // a separate process group, so a Ctrl-C in the terminal reaches the runner only
      cleanup: true,
      reject: false,
      buffer: false,
    });
    closeSync(output);
    if (child.pid === undefined) {
      const { cause, shortMessage } = await child;
      return { failed: (cause as Error | undefined)?.message ?? shortMessage ?? "cannot be started" };
    }
    const ended = child.then(
      ({ exitCode, signal }): JobEnd => ({ kind: "ended", code: exitCode ?? null, signal: signal ?? null }),
    );
    return { pid: child.pid, ended };
  };
}
