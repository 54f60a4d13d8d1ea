// The walls around a stage that opens what untrusted code made: their description as plain data. walls.py builds
// them, in a child of a warm Python process or before a program that starts fresh.
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExecutionRequest, StageWalls } from "@mlrb/core/ports/executor";
import { hiddenInProc, systemPaths } from "@mlrb/core/ports/system-paths";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { type ControlGroups, makeControlGroups } from "@mlrb/kit/processes/control-groups";
import { seccompFilter } from "@mlrb/kit/processes/seccomp-filter";
import { trialMs } from "@mlrb/kit/processes/trial-limit";
import { realOf } from "../stage/stage-permissions.ts";
import { helperPython } from "./spawner-helper.ts";

const builder = fileURLToPath(new URL("./walls.py", import.meta.url));

/** What walls.py reads. */
export type WallsDescription = ReturnType<typeof describeWalls>;

/** What a process may reserve without using it: Node reserves half a gigabyte for compiled code. */
const reservedBytes = 2 ** 30;

/** Open files of one process. */
const filesMax = 16_384;

/** Programs, libraries and facts of the machine, where they exist. Links are shown as links. */
const system = [
  ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"],
  ...["/sys/devices/system/cpu", "/sys/devices/system/node"],
];

/** Libraries of NVIDIA's driver and of CUDA that are not in /usr, on NixOS and Arch. Those of WSL are in /usr/lib/wsl. */
const driverFolders = ["/run/opengl-driver", "/opt/cuda"];

/** The groups of one stage; remove them when its processes are dead. */
export function wallsGroups(token: string, { memoryBytes, processes }: StageWalls["limits"]): ControlGroups {
  return makeControlGroups(groupName(token), { memoryBytes, processes });
}

/** The name of a stage's groups; of a run's token, the beginning of the names of all its stages. */
export function groupName(token: string): string {
  return token.replace(/[^A-Za-z0-9]+/g, "-").replace(/-$/, "");
}

export function describeWalls(
  { user, reads, writes, limits }: StageWalls,
  { root }: Pick<ExecutionRequest, "root">,
  { groups, inView, gpuFiles }: { groups: ControlGroups; inView: boolean; gpuFiles: readonly string[] },
) {
  const id = user?.uid ?? process.getuid?.() ?? 0;
  const group = user?.gid ?? process.getgid?.() ?? 0;
  const view = {
    // a folder before what is in it, which it would cover
    reads: [...system, ...systemPaths, ...(gpuFiles.length > 0 ? driverFolders : []), ...reads]
      .map((path) => ({ path, depth: realOf(path).length }))
      .sort((a, b) => a.depth - b.depth)
      .map(({ path }) => path),
    writes,
    devices: [
      ...["null", "zero", "full", "random", "urandom", "tty"].map((name) => `/dev/${name}`),
      ...gpuFiles,
    ],
    /** Texts of files that are made inside, by path. */
    files: {
      "/etc/passwd": `root:x:0:0:root:/:/bin/false\nstage:x:${id}:${group}:stage:/tmp:/bin/sh\n`,
      "/etc/group": `root:x:0:\nstage:x:${group}:\n`,
      "/etc/hosts": "127.0.0.1 localhost stage\n::1 localhost\n",
      "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    },
    hidden: hiddenInProc.map((name) => `/proc/${name}`),
    /** Folders in memory, by path, with their sizes in bytes. */
    memory: { "/tmp": part(limits.memoryBytes, 4), "/dev/shm": part(limits.memoryBytes, 2) },
    cwd: root,
  };
  return {
    /** Null: no namespaces can be made here, only the limits hold. */
    view: inView ? view : null,
    user: user ? [user.uid, user.gid] : null,
    /** Files of control groups to which each process writes "0". */
    groups: groups.entries,
    limits: {
      fileBytes: limits.fileBytes,
      processes: limits.processes,
      files: filesMax,
      /** Limits each process, where no control group limits all of them; null: not limited. */
      dataBytes: groups.has.has("memory") ? null : limits.memoryBytes + reservedBytes,
    },
    /** Base64. */
    seccomp: Buffer.from(seccompFilter() ?? []).toString("base64"),
  };
}

/** Never all of the memory: when the folder is full, a program still has room. */
function part(memoryBytes: number, by: number): number {
  return Math.max(4096, Math.floor(memoryBytes / by));
}

/** A command line that builds the walls described in `file` and runs `argv` inside. */
export function walled(argv: readonly string[], file: string): string[] {
  // a machine without python3 on its PATH has none; where it has one, that may be a shim, which takes 0.1 s
  const folders = (process.env.PATH ?? "").split(delimiter);
  const python = folders.some((folder) => existsSync(join(folder, "python3"))) ? helperPython : "python3";
  return [python, "-I", "-S", "-B", builder, file, "--", ...argv];
}

/** The arguments after the limits are the program. The shell is the only program that every machine has. */
const limits = `ulimit -c 0; ulimit -f "$1"; ulimit -n "$2"; [ -z "$3" ] || ulimit -d "$3"
shift 3
while [ "$1" != -- ]; do echo 0 > "$1"; shift; done
shift
exec "$@"`;

/** A command line that runs `argv` under the limits alone, where no walls can be built. */
export function limited(argv: readonly string[], { limits: held, groups }: WallsDescription): string[] {
  const { fileBytes, files, dataBytes } = held;
  const data = dataBytes === null ? "" : String(Math.ceil(dataBytes / 1024)); // POSIX shells count KiB
  const file = String(Math.ceil(fileBytes / 512)); // and blocks of 512 bytes
  return ["/bin/sh", "-c", limits, "mlrb", file, String(files), data, ...groups, "--", ...argv];
}

/** Why no walls can be built here, with the way out; undefined if they can. Tested by building some. */
export async function wallsMissing(withinMs = trialMs): Promise<string | undefined> {
  const no = (why: string) => `no walls can be built here: ${why}`;
  if (process.platform !== "linux") return no(`they need Linux, this is ${process.platform}`);
  if (!seccompFilter())
    return no(`the filter of system calls exists for x64 and arm64, this is ${process.arch}`);
  const { execa } = await import("execa");
  const folder = mkdtempSync(join(tmpdir(), "mlrb-walls-"));
  const limits = { memoryBytes: 2 ** 28, processes: 4096, fileBytes: 2 ** 20 };
  const user = process.getuid?.() === 0 && { user: { uid: 65_534, gid: 65_534 } };
  const walls = { ...user, required: true, reads: [dirname(builder)], writes: [folder], limits };
  const none = { has: new Set(), entries: [] } as unknown as ControlGroups;
  const described = describeWalls(walls, { root: "/" }, { groups: none, inView: true, gpuFiles: [] });
  try {
    const file = join(folder, "walls.json");
    writeFileSync(file, JSON.stringify(described));
    const [program, ...args] = walled(["sh", "-c", "true"], file);
    const trial = await execa(program!, args, { reject: false, timeout: withinMs });
    const { failed, timedOut, stderr, code } = trial;
    if (!failed) return undefined;
    const seconds = withinMs / 1000;
    if (timedOut)
      return no(`a trial did not end within ${seconds} s, as on a machine that is too busy: run again`);
    // no path: causes reach reports, which must be equal on every machine
    const last = /(?:^|\n)(?:mlrb: the walls cannot be built: )?(.*)$/.exec(stderr?.trim() ?? "")?.[1];
    const said = code === "ENOENT" ? "python3 is not installed" : last || "a trial failed";
    return no(
      `${said}; they need python3 and root, or user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns); or use \`executor: docker\``,
    );
  } finally {
    removeFolder(folder);
  }
}
