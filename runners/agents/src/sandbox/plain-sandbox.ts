// A folder and nothing more: it keeps a trusted program's files together and its environment clean. It isolates
// nothing. Agents that write their own code need a sandbox with walls.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { ExecRequest, ExecResult, Sandbox } from "@mlrb/core/ports/sandbox";
import { endProcesses, findMarked, findProcesses } from "@mlrb/kit/processes/end-processes";
import {
  type FrozenProcesses,
  freezePart,
  freezeProcesses,
  thawProcesses,
} from "@mlrb/kit/processes/freeze-processes";
import type { FindProcesses } from "@mlrb/kit/processes/process-table";
import { execa } from "execa";
import { sandboxFolder } from "./sandbox-folder.ts";
import { startGate } from "./start-gate.ts";

/** Under the folder `under`, or in an `earlier` one. Only for programs that a person trusts. */
export async function plainSandbox(under: string, earlier?: string): Promise<Sandbox> {
  const folder = await sandboxFolder(under, { earlier });
  const { root } = folder;
  // begins with the token of the stage, if there is one: ending the stage ends this too
  const token = `${process.env.MLRB_TOKEN ?? ""}${randomBytes(12).toString("hex")}`;
  const known = { token, root, groups: [] as number[] };
  const find: FindProcesses = (first, before) => findProcesses({ ...known, first }, before);
  let execs = 0;
  let frozen: FrozenProcesses | undefined;
  const { shut, ...programs } = startGate({
    exec: (request) =>
      run(request, known.groups, {
        HOME: join(root, "home"),
        TMPDIR: join(root, "tmp"),
        MLRB_TOKEN: `${known.token}-${++execs}`,
      }),
    async freeze() {
      frozen = await freezeProcesses(find);
      return frozen !== undefined;
    },
    async thaw() {
      return frozen === undefined || thawProcesses(frozen, find);
    },
    kill: () => endProcesses(known),
  });

  return {
    kind: "plain",
    seenAs: (inside) => join(root, inside),
    ...programs,
    freezePart: (variable) => freezePart(findMarked(find, variable)),
    ...folder.files,
    async close({ keepFiles = false } = {}) {
      shut();
      await programs.kill();
      if (!keepFiles) await folder.remove();
    },
  };
}

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
      // the program's last output may still be in the pipe
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
