// A folder and nothing more: it keeps an honest program's files together and its environment clean,
// and holds back nobody. For this project's own scripted baselines; agents that write their own
// code need a sandbox with walls.
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, realpath, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { ExecRequest, ExecResult, Sandbox } from "@mlrb/core/sandbox";
import { endProcesses, stopProcesses } from "@mlrb/kit/end-processes";
import { execa } from "execa";
import { copyOut } from "./copy-out.ts";
import { child, openInside, openRegular } from "./open-folder.ts";
import { agentsDoing } from "./walk-folder.ts";

export type PlainSandboxOptions = {
  /** The folder under which the sandbox's own is made. */
  under: string;
  /** Whether a person vouched for the program (`trusted: true` in the preset). */
  trusted: boolean;
  /** For the message of a refusal. */
  agent: string;
};

/** Throws for programs that nobody vouched for. */
export async function plainSandbox({ under, trusted, agent }: PlainSandboxOptions): Promise<Sandbox> {
  if (!trusted) {
    throw new Error(
      `agent "${agent}": its preset does not say \`trusted: true\`, and the plain sandbox has no walls; ` +
        "run programs that are not this project's own with an executor that isolates them, " +
        "or set `trusted: true` in the preset after reading what the program does",
    );
  }
  await mkdir(under, { recursive: true });
  const root = await realpath(await mkdtemp(join(under, "sandbox-")));
  await Promise.all(["home", "tmp"].map((name) => mkdir(join(root, name))));
  // begins with the token of the stage, if there is one: whoever ends the stage ends this too
  const token = `${process.env.MLRB_TOKEN ?? ""}${randomBytes(12).toString("hex")}`;
  const known = { token, root, groups: [] as number[] };
  let execs = 0;

  return {
    kind: "plain",
    seenAs: (inside) => join(root, inside),
    exec: (request) =>
      run(request, known.groups, {
        HOME: join(root, "home"),
        TMPDIR: join(root, "tmp"),
        MLRB_TOKEN: `${known.token}-${++execs}`,
      }),
    async put(from, inside, options = {}) {
      const to = join(root, inside);
      await mkdir(dirname(to), { recursive: true });
      if (!options.move || !(await tryMove(from, to)))
        await cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE, filter: isNoByteCode });
      if (options.readOnly) await makeReadOnly(to);
    },
    async get(inside, range) {
      try {
        return await readPart(root, inside, range);
      } catch (error) {
        agentsDoing(error);
        return undefined;
      }
    },
    snapshot: (request) => copyOut(root, request),
    freeze: async () => void (await stopProcesses(known)),
    kill: () => endProcesses(known),
    async close() {
      await endProcesses(known);
      // chmod and rm reach trees whose paths are too long for Node's own rm
      await execa("chmod", ["-R", "u+rwX", root], { reject: false });
      await execa("rm", ["-rf", root], { reject: false });
    },
  };
}

/** False where it has to be copied after all: another file system, or one that may not be written. */
async function tryMove(from: string, to: string): Promise<boolean> {
  if (await hasOtherNames(from)) return false;
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["EXDEV", "EROFS", "EACCES", "EPERM", "EBUSY"].includes(code)) return false;
    throw error;
  }
}

/** Whether a file stands elsewhere too, where what an agent writes in it would be seen. */
async function hasOtherNames(path: string): Promise<boolean> {
  const stats = await lstat(path);
  if (!stats.isDirectory()) return stats.nlink > 1;
  for (const name of await readdir(path)) if (await hasOtherNames(join(path, name))) return true;
  return false;
}

// a compiled file of an earlier run beside the program would make two attempts differ
const isNoByteCode = (path: string) => basename(path) !== "__pycache__";

async function run(request: ExecRequest, groups: number[], own: Record<string, string>): Promise<ExecResult> {
  const [file, ...args] = request.argv;
  // a session of its own: the program's `kill 0` must not reach the supervisor
  const started = execa(file!, args, {
    cwd: request.cwd,
    env: { ...request.env, ...own },
    extendEnv: false,
    detached: true,
    stdin: "ignore",
    buffer: false,
    reject: false,
  });
  started.catch(() => {});
  if (started.pid === undefined) return { kind: "not-started", detail: (await started).shortMessage ?? "" };
  groups.push(started.pid);
  started.stdout.on("data", (bytes: Uint8Array) => request.onOutput("stdout", bytes));
  started.stderr.on("data", (bytes: Uint8Array) => request.onOutput("stderr", bytes));
  // "exit", not the promise: a detached child that holds the pipe open must not hold the attempt open
  return await new Promise((resolve) => {
    started.nodeChildProcess.on("exit", (code, signal) => {
      // what the program wrote last may still be in the pipe
      const done = () =>
        resolve(signal ? { kind: "signalled", signal } : { kind: "exited", code: code ?? 0 });
      const patience = setTimeout(done, 500);
      started.nodeChildProcess.on("close", () => {
        clearTimeout(patience);
        done();
      });
    });
  });
}

async function readPart(root: string, inside: string, range: { from: number; bytesMax: number }) {
  const folder = await openInside(root, dirname(inside));
  try {
    const file = await openRegular(child(folder, Buffer.from(basename(inside))));
    if (!file) return undefined;
    try {
      const room = Math.max(0, Math.min(range.bytesMax, (await file.stat()).size - range.from));
      const { bytesRead, buffer } = await file.read(Buffer.alloc(room), 0, room, range.from);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } finally {
    await folder.handle.close();
  }
}

/** Root writes through this; everyone else is told early that data is not theirs to change. */
async function makeReadOnly(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isFile()) await chmod(join(entry.parentPath, entry.name), 0o444);
  }
  for (const entry of entries)
    if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), 0o555);
  if (entries.length > 0) await chmod(path, 0o555);
}
