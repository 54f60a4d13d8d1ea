// Flags that every container of ours bears, a trusted stage's and a sandbox's: nothing may be written but what is
// mounted for it, no rights but those of its user, limits on what it takes, its GPUs by name and no others.
import { availableParallelism } from "node:os";
import type { Gpu } from "@mlrb/core/gpu";
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
    "--init",
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
    ...gpuFlags(engine, gpus),
  ];
}

/** Explicit devices: `--gpus 2` would give everyone the first two. */
export function gpuFlags(engine: ContainerEngine, gpus: readonly Gpu[]): string[] {
  // where the NVIDIA runtime is the default one, an image could ask for all by this variable
  if (gpus.length === 0) return ["--env", "NVIDIA_VISIBLE_DEVICES=void"];
  if (engine.flavour === "podman") return gpus.flatMap(({ uuid }) => ["--device", `nvidia.com/gpu=${uuid}`]);
  const devices = gpus.map(({ uuid }) => uuid).join(",");
  return ["--gpus", `"device=${devices}","capabilities=compute,utility"`];
}
