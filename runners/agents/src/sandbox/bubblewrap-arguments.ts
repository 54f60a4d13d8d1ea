// The walls themselves: which paths bubblewrap shows inside, and which rights it drops. Anything not named here
// does not exist inside. Pure except for reading which of the host's system folders exist.
import { existsSync, lstatSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { WallsRequest } from "@mlrb/core/ports/sandbox";
import { hiddenInProc, systemPaths } from "@mlrb/core/ports/system-paths";
import { gpuDevices } from "@mlrb/kit/processes/gpu-devices";
import type { SandboxUser } from "@mlrb/kit/processes/sandbox-user";

export type WallsFacts = {
  user: SandboxUser;
  /** Whether this process is root, and so needs no user namespace. */
  asRoot: boolean;
  /** Whether this bubblewrap can limit the size of a folder in memory. */
  canSize: boolean;
  /** The paths in `readOnly` that are still in place: a program may have moved them. */
  readOnly: string[];
  /** The interpreter of the first process, and its folder if that is not /usr. */
  python: { program: string; prefix?: string };
};

/**
 * Texts are passed through descriptors, so that no path of the host is shown. Placeholders `{fd:N}` are replaced
 * by the descriptor of `given[N]`.
 */
export type BubblewrapArguments = { argv: string[]; given: (string | Uint8Array)[] };

const initAt = "/run/sandbox/init.py";

export function bubblewrapArguments(
  request: WallsRequest,
  { user, asRoot, canSize, readOnly, python }: WallsFacts,
  texts: { init: string; seccomp: Uint8Array },
): BubblewrapArguments {
  const given: BubblewrapArguments["given"] = [];
  const file = (at: string, text: string) => {
    given.push(text);
    return ["--perms", "0444", "--file", `{fd:${given.length - 1}}`, at];
  };
  const inside = (path: string) => join(request.seenAs, path);
  const made = new Set<string>();
  const above = (path: string) => foldersAbove(path, made);
  // never all of the memory: when the folder is full, a program still has room
  const inMemory = (at: string, part: number) => [
    ...["--perms", "1777"],
    ...(canSize ? ["--size", String(Math.max(1, Math.floor(request.limits.memoryBytes / part)))] : []),
    ...["--tmpfs", at],
  ];
  const argv = [
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...(request.network === "full" ? [] : ["--unshare-net"]),
    ...(asRoot
      ? // rights by which the first process gives programs their user; the programs themselves keep none
        [
          "--cap-drop",
          "ALL",
          ...["SETUID", "SETGID", "SETPCAP"].flatMap((one) => ["--cap-add", `CAP_${one}`]),
        ]
      : ["--unshare-user", "--cap-drop", "ALL"]),
    ...["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv", "--hostname", "sandbox"],
    ...["/etc/ssl/certs", initAt].flatMap(above),
    ...systemFolders(),
    ...etcFiles(request.network).flatMap(([at, text]) => file(at, text)),
    ...file(
      "/etc/passwd",
      `root:x:0:0:root:/:/bin/false\nagent:x:${user.uid}:${user.gid}:agent:${inside("home")}:/bin/sh\n`,
    ),
    ...file("/etc/group", `root:x:0:\nagent:x:${user.gid}:\n`),
    ...["--proc", "/proc"],
    ...hiddenInProc
      .filter((one) => existsSync(`/proc/${one}`))
      .flatMap((one) => ["--ro-bind", "/dev/null", `/proc/${one}`]),
    ...["--dev", "/dev"],
    ...inMemory("/dev/shm", 2),
    ...inMemory("/tmp", 4),
    ...gpuFiles(request).flatMap((path) => ["--dev-bind-try", path, path]),
    ...["--remount-ro", "/dev"],
    ...["--bind", request.folder, request.seenAs],
    ...readOnly.flatMap((path) => ["--ro-bind", join(request.folder, path), inside(path)]),
    ...[...request.reads, ...(python.prefix ? [python.prefix] : [])].flatMap((path) => [
      ...above(path),
      ...["--ro-bind", path, path],
    ]),
    ...file(initAt, texts.init),
    ...["--remount-ro", "/", "--chdir", "/"],
  ];
  given.push(texts.seccomp);
  argv.push("--seccomp", `{fd:${given.length - 1}}`);
  argv.push("--", python.program, "-I", "-S", "-B", initAt);
  return { argv, given };
}

/** Throws, with the reason, where the driver does not name them. */
function gpuFiles({ gpus }: WallsRequest): string[] {
  const devices = gpuDevices(gpus);
  if ("trouble" in devices) throw new Error(devices.trouble);
  return devices.files;
}

/**
 * bubblewrap makes missing parents of a path with permissions for root alone. Each is in `made` once: bubblewrap
 * takes 9000 arguments at most, and an environment may be many paths below the same folders.
 */
function foldersAbove(path: string, made: Set<string>): string[] {
  const names = dirname(path).split("/").slice(1).filter(Boolean);
  const folders = names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
  const missing = folders.filter((one) => !inPlace.includes(one) && !made.has(one));
  for (const one of missing) made.add(one);
  return missing.flatMap((one) => ["--perms", "0755", "--dir", one]);
}

/** These have their own permissions. */
const inPlace = ["/tmp", "/usr", "/dev", "/proc"];

/** /usr, and the host's other system folders: links into /usr, or folders on an older system. */
function systemFolders(): string[] {
  const folders = ["--ro-bind", "/usr", "/usr"];
  for (const name of ["/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin"]) {
    if (!existsSync(name)) continue;
    if (lstatSync(name).isSymbolicLink()) folders.push("--symlink", readlinkSync(name), name);
    else folders.push("--ro-bind", name, name);
  }
  for (const path of systemPaths) if (existsSync(path)) folders.push("--ro-bind", path, path);
  return folders;
}

function etcFiles(network: WallsRequest["network"]): [at: string, text: string][] {
  const files: [string, string][] = [
    ["/etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n"],
    ["/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"],
  ];
  if (network === "full" && existsSync("/etc/resolv.conf"))
    files.push(["/etc/resolv.conf", readFileSync("/etc/resolv.conf", "utf8")]);
  return files;
}
