// Flags of every container, of trusted stages and of sandboxes: only mounted folders are writable, the program has
// the rights of its user and no more, its resources are limited, and its GPUs are named one by one.
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Gpu } from "@mlrb/core/ports/gpu";
import type { ContainerEngine } from "./container-engine.ts";

export type Confinement = {
  /** `UID:GID` of its processes. */
  user: string;
  /** The engine's own network if undefined. */
  network: "none" | "host" | undefined;
  memoryBytes?: number | undefined;
  processes: number;
  cpus: number;
  gpus: readonly Gpu[];
  tmpBytes?: number;
  shmBytes: number;
};

export function confinementFlags(engine: ContainerEngine, confinement: Confinement): string[] {
  const { user, network, memoryBytes, processes, cpus, gpus, tmpBytes, shmBytes } = confinement;
  const memory = memoryBytes === undefined ? undefined : Math.max(Math.floor(memoryBytes), 6 * 2 ** 20);
  const tmp = tmpBytes ?? (engine.holds.memory || memory === undefined ? undefined : Math.floor(memory / 4));
  return [
    // without an init the program would be process 1, which ignores TERM by default and reaps no orphans
    ...initFlags(engine),
    ...["--pull", "never", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
    // SELinux would hide the mounted folders; relabelling them would change the host's files
    ...(engine.flavour === "podman" ? ["--security-opt", "label=disable"] : []),
    ...userFlags(engine, user),
    ...(network === undefined ? [] : ["--network", network]),
    ...["--log-driver", "none"],
    ...["--ipc", "private", "--shm-size", String(shmBytes)],
    ...["--tmpfs", `/tmp:rw,exec,nosuid,nodev,mode=1777${tmp === undefined ? "" : `,size=${tmp}`}`],
    ...(memory === undefined ? [] : memoryFlags(engine, memory)),
    ...(cpus > 0 && engine.holds.cpus ? ["--cpus", String(Math.min(cpus, availableParallelism()))] : []),
    ...["--ulimit", "core=0"],
    ...processFlags(engine, processes),
    ...gpuFlags(engine, gpus),
  ];
}

/** What a process may reserve without using it, as inside walls on this host. */
const reservedBytes = 2 ** 30;

/** An engine without the control group ignores the first two, or refuses to start; then each process has a limit. */
function memoryFlags({ holds }: ContainerEngine, memory: number): string[] {
  if (holds.memory) return ["--memory", String(memory), "--memory-swap", String(memory)];
  return ["--ulimit", `data=${memory + reservedBytes}`];
}

/** Users are the same inside and outside, so the harness can read and remove what a program writes. */
function userFlags({ flavour, rootless, remapped }: ContainerEngine, user: string): string[] {
  const keepId = rootless && flavour === "podman" ? "keep-id" : undefined;
  const namespace = remapped ? "host" : keepId;
  return [...(namespace === undefined ? [] : ["--userns", namespace]), "--user", user];
}

/**
 * Without the control group, the kernel counts the processes of this user in the container's user namespace. A
 * rootless Docker has one for all containers and itself, where a smaller limit would stop honest programs.
 */
function processFlags({ flavour, holds }: ContainerEngine, processes: number): string[] {
  const all = holds.processes ? ["--pids-limit", String(processes)] : [];
  if (flavour === "podman") return [...all, ...podmanLimits(holds.processes ? mostProcesses : processes)];
  return holds.processes ? all : ["--ulimit", `nproc=${mostProcesses}`];
}

/** `--pids-limit` limits this container more strictly; podman 4.3 fails at much higher numbers. */
const mostProcesses = 16_384;

/** Podman requests the kernel's limits of open files and processes, which may exceed those of this user. */
function podmanLimits(most: number): string[] {
  const limits = readFileSync("/proc/self/limits", "utf8");
  const hard = (name: string) => new RegExp(`^Max ${name} +\\S+ +(\\d+)`, "m").exec(limits)?.[1];
  const [files, processes] = [hard("open files"), hard("processes")];
  return [
    ...(files === undefined ? [] : ["--ulimit", `nofile=${files}:${files}`]),
    ...["--ulimit", `nproc=${Math.min(Number(processes ?? most), most)}`],
  ];
}

/** Podman looks for catatonit only. If a distribution leaves that out, another init program does. */
function initFlags({ flavour }: ContainerEngine): string[] {
  if (flavour === "docker") return ["--init"];
  const own = ["/usr/libexec/podman/catatonit", "/usr/lib/podman/catatonit", "/usr/bin/catatonit"];
  const others = ["/usr/bin/tini-static", "/usr/bin/tini", "/usr/bin/docker-init"];
  const other = own.some(existsSync) ? undefined : others.find(existsSync);
  return ["--init", ...(other === undefined ? [] : ["--init-path", other])];
}

/** Names devices: `--gpus 2` would give every container the first two. */
export function gpuFlags(engine: ContainerEngine, gpus: readonly Gpu[]): string[] {
  // if the NVIDIA runtime is the default one, an image could request all GPUs by this variable
  if (gpus.length === 0) return ["--env", "NVIDIA_VISIBLE_DEVICES=void"];
  if (engine.flavour === "podman") return gpus.flatMap(({ uuid }) => ["--device", `nvidia.com/gpu=${uuid}`]);
  const devices = gpus.map(({ uuid }) => uuid).join(",");
  return ["--gpus", `"device=${devices}","capabilities=compute,utility"`];
}
