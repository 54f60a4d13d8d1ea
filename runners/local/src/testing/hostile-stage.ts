// Runs a program as a stage that opens what untrusted code made, in each of the three ways to start one.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { ExecutionRequest, Running, StageWalls } from "@mlrb/core/ports/executor";
import type { Gpu } from "@mlrb/core/ports/gpu";
import { sandboxUser } from "@mlrb/kit/processes/sandbox-user";
import { localExecutor } from "../process/local-executor.ts";

const python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], {
  encoding: "utf8",
}).trim();
const prefix = dirname(dirname(realpathSync(python)));

export type Way = "forked" | "fresh Python" | "fresh Node" | "no helper";
export const ways: Way[] = ["forked", "fresh Python", "fresh Node", "no helper"];

export type HostileOptions = {
  port?: number;
  required?: boolean;
  /** Its limit on memory. */
  memoryBytes?: number;
  gpus?: Gpu[];
  /** The stage's PATH. */
  path?: string;
  /** Paths that the stage declares, besides its own. */
  reads?: string[];
  /** Starts the stage in place of the local executor. */
  start?: (request: ExecutionRequest) => Promise<Running>;
};

/** Notes what it sees and what it is refused in `out/result.json`. */
export const sight = `
import json, os, socket, ctypes
root, work = os.environ["ROOT"], os.environ["WORK"]
hidden = ["/root/.ssh", "/etc/shadow", "/home", "/proc/kcore", "/dev/mem", "/var", "/run", "/sys/fs/cgroup",
          "/sys/kernel", root + "/.mlrb/secret", root + "/.env", root + "/.git"]
seen = {}
for path in hidden:
    try:
        seen[path] = os.listdir(path) if os.path.isdir(path) else len(open(path, "rb").read())
    except OSError as error:
        seen[path] = "refused"
def tried(act):
    try:
        act()
        return "done"
    except Exception as error:
        return "refused"
libc = ctypes.CDLL(None, use_errno=True)
def called(name, *args):
    def act():
        if getattr(libc, name)(*args) < 0:
            raise OSError(ctypes.get_errno())
    return act
def write(path):
    def act():
        open(path, "a").write("x")
    return act
acts = {
    "network": lambda: socket.create_connection(("127.0.0.1", int(os.environ.get("PORT", "1"))), 2),
    "mount": called("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    "remount": called("mount", b"none", work.encode() + b"/in", None, 32 | 4096, None),
    "unshare": called("unshare", 0x10000000),
    "chroot": called("chroot", b"/tmp"),
    "ptrace": called("ptrace", 16, 1, 0, 0),
    "kill": lambda: os.kill(1, 9) or [][int(os.path.exists("/proc/1"))],
    "input": write(work + "/in/submission"),
    "link": lambda: os.link(work + "/in/submission", work + "/out/link"),
    "code": write(root + "/stage.py"),
    "usr": write("/usr/mlrb-hostile"),
    "root": write("/hostile"),
    "core": lambda: open("/proc/sys/kernel/core_pattern", "w").write("x"),
    "setuid": lambda: os.setuid(0) if os.getuid() else None,
    "device": called("mknod", work.encode() + b"/out/disk", 0o60666, 0x700),
}
result = {"seen": seen, "acts": {name: tried(act) for name, act in acts.items()},
          "pids": sorted(int(one) for one in os.listdir("/proc") if one.isdigit()),
          "uid": os.getuid(), "submission": open(work + "/in/submission").read(), "top": sorted(os.listdir("/")), "root": sorted(os.listdir(root)), "mlrb": os.listdir(root + "/.mlrb"),
          "caps": [line for line in open("/proc/self/status") if line.startswith(("CapEff", "CapBnd", "NoNewPrivs", "Seccomp:"))],
          "lo": [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]}
open(work + "/out/result.json", "w").write(json.dumps(result))
`;

/** Its memory must be held by the kernel, in all processes together where a control group can be made. */
export const greedy = `
import os
held = []
for _ in range(PROCESSES - 1):
    if os.fork() == 0:
        break
while len(held) < 100:
    held.append(bytearray(os.urandom(1 << 20) * 20))
open(os.environ["WORK"] + "/out/survived", "w")
import time; time.sleep(5)
`;

/** Runs a hostile program; for Node, its Python text is run by a child of the Node program. */
export async function hostile(
  t: TestContext,
  way: Way,
  script: string,
  {
    port = 1,
    required = true,
    memoryBytes = 2 ** 29,
    gpus = [],
    path = process.env.PATH!,
    reads = [],
    start,
  }: HostileOptions = {},
) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-hostile-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const work = join(root, ".mlrb/work/1");
  for (const name of ["in", "out", "tmp"]) mkdirSync(join(work, name), { recursive: true });
  writeFileSync(join(root, ".mlrb/secret"), "sk-secret");
  writeFileSync(join(root, ".env"), "sk-secret");
  writeFileSync(join(root, "preload.py"), "import json, socket\n");
  writeFileSync(join(work, "in/submission"), "weights", { mode: 0o600 });
  const token = `mlrb:${root}:`;
  const program = join(root, "stage.py");
  writeFileSync(program, script.replaceAll("WORKFOLDER", work));
  const node = join(root, "stage.ts");
  const child = `require("node:child_process").spawnSync(${JSON.stringify(python)}, [${JSON.stringify(program)}], { stdio: "inherit" })`;
  writeFileSync(node, `const { status, signal } = ${child}; if (status !== 0) process.exit(status ?? 99);\n`);
  const executor = localExecutor(root, way === "no helper" ? { python: null } : {});
  t.after(() => executor.close?.());
  const walls: StageWalls = {
    ...(process.getuid?.() === 0 && { user: sandboxUser(token) }),
    required,
    reads: [work, program, node, join(root, "preload.py"), dirname(process.execPath), prefix, ...reads],
    writes: [join(work, "out"), join(work, "tmp")],
    limits: { memoryBytes, processes: 64, fileBytes: 2 ** 24 },
  };
  const log = join(work, "log");
  const request: ExecutionRequest = {
    ...{ id: "one", key: "k", token, root, work, log, walls, network: "none" },
    run:
      way === "fresh Node"
        ? { kind: "command", command: [process.execPath, node] }
        : { kind: "python", file: "stage.py" },
    env: {
      PATH: path,
      HOME: join(work, "tmp"),
      TMPDIR: join(work, "tmp"),
      PYTHONHASHSEED: "0",
      WORK: work,
      ROOT: root,
      PORT: String(port),
      MLRB_STAGE: "x",
    },
    ...{
      inputs: {},
      outputs: {},
      limits: { timeMs: 40_000 },
      reads: [],
      writes: [],
      cpus: 1,
      gpus,
      python,
    },
    ...(way === "forked" && { preload: join(root, "preload.py") }),
  };
  const running = await (start?.(request) ?? executor.start(request));
  const result = await running.ended;
  return { result, root, work, log: existsSync(log) ? readFileSync(log, "utf8") : "", request, token };
}
