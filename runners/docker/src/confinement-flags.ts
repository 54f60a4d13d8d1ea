// Flags that every container of ours bears, a trusted stage's and a sandbox's: nothing may be written but what is
// mounted for it, no rights but those of its user, limits on what it takes, its GPUs by name and no others.
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Gpu } from "@mlrb/core/ports/gpu";
import type { ContainerEngine } from "./container-engine.ts";

export type Confined = {
  memoryBytes?: number | undefined;
  processes: number;
  cpus: number;
  gpus: readonly Gpu[];
  tmpBytes?: number;
  shmBytes: number;
};

export function confinementFlags(engine: ContainerEngine, confined: Confined): string[] {
  const { memoryBytes, processes, cpus, gpus, tmpBytes, shmBytes } = confined;
  const memory =
    memoryBytes === undefined ? undefined : String(Math.max(Math.floor(memoryBytes), 6 * 2 ** 20));
  return [
    // without one the program would be process 1, which ignores TERM unless it says otherwise and reaps nobody
    ...initFlags(engine),
    ...["--pull", "never", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
    // SELinux would hide the mounted folders; to relabel them would change the host's files
    ...(engine.flavour === "podman" ? ["--security-opt", "label=disable"] : []),
    // users must be the same inside and outside, or the work folder is somebody else's
    ...(engine.remapped ? ["--userns", "host"] : []),
    ...["--ipc", "private", "--shm-size", String(shmBytes), "--pids-limit", String(processes)],
    ...["--tmpfs", `/tmp:rw,exec,nosuid,nodev,mode=1777${tmpBytes === undefined ? "" : `,size=${tmpBytes}`}`],
    ...(memory === undefined ? [] : ["--memory", memory, "--memory-swap", memory]),
    ...(cpus > 0 ? ["--cpus", String(Math.min(cpus, availableParallelism()))] : []),
    ...["--ulimit", "core=0"],
    ...(engine.flavour === "podman" ? ownLimits() : []),
    ...gpuFlags(engine, gpus),
  ];
}

/** Podman asks for as many open files and processes as the kernel has: more than this user may be allowed to have. */
function ownLimits(): string[] {
  const limits = readFileSync("/proc/self/limits", "utf8");
  const hard = (name: string) => new RegExp(`^Max ${name} +\\S+ +(\\d+)`, "m").exec(limits)?.[1];
  const [files, processes] = [hard("open files"), hard("processes")];
  return [
    ...(files === undefined ? [] : ["--ulimit", `nofile=${files}:${files}`]),
    // how many this container may have, the other flag says; podman 4.3 fails at much higher numbers
    ...["--ulimit", `nproc=${Math.min(Number(processes ?? 16_384), 16_384)}`],
  ];
}

/** Podman looks for its own init program only; where a distribution leaves that out, any other will do. */
function initFlags({ flavour }: ContainerEngine): string[] {
  if (flavour === "docker") return ["--init"];
  const own = ["/usr/libexec/podman/catatonit", "/usr/lib/podman/catatonit", "/usr/bin/catatonit"];
  if (own.some((path) => existsSync(path))) return ["--init"];
  const other = ["/usr/bin/tini-static", "/usr/bin/tini", "/usr/bin/docker-init"].find((path) =>
    existsSync(path),
  );
  return other === undefined ? ["--init"] : ["--init", "--init-path", other];
}

/** Explicit devices: `--gpus 2` would give everyone the first two. */
export function gpuFlags(engine: ContainerEngine, gpus: readonly Gpu[]): string[] {
  // where the NVIDIA runtime is the default one, an image could ask for all by this variable
  if (gpus.length === 0) return ["--env", "NVIDIA_VISIBLE_DEVICES=void"];
  if (engine.flavour === "podman") return gpus.flatMap(({ uuid }) => ["--device", `nvidia.com/gpu=${uuid}`]);
  const devices = gpus.map(({ uuid }) => uuid).join(",");
  return ["--gpus", `"device=${devices}","capabilities=compute,utility"`];
}
