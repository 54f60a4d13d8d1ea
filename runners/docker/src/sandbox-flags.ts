// Arguments that create the container of a sandbox. Its first process only waits. It runs as root without any
// capability, so no program inside can end it. It ends with its standard input, which is when the supervisor dies.
import { dirname, join } from "node:path";
import type { WallsRequest } from "@mlrb/core/ports/sandbox";
import { withoutLinks } from "@mlrb/kit/files/without-links";
import { confinementFlags } from "./confinement-flags.ts";
import type { ContainerEngine } from "./container-engine.ts";
import type { ContainerImage } from "./ensure-image.ts";
import { readMounts } from "./image-environment.ts";
import { imageMounts, mountFlags } from "./mount-flags.ts";

/** Label whose value is the token of the sandbox. */
export const sandboxLabel = "mlrb.sandbox";

const waits = "echo ready; while read -r _; do :; done";

export function sandboxCreation(
  engine: ContainerEngine,
  request: WallsRequest,
  image: ContainerImage,
): string[] {
  const { folder, seenAs, readOnly, reads, environment, network, limits, gpus, token } = request;
  const shown = readMounts(reads, environment, image);
  return [
    ...["create", "--interactive", "--label", `${sandboxLabel}=${token}`],
    ...confinementFlags(engine, {
      user: "0:0",
      network: network === "full" ? undefined : "none",
      memoryBytes: limits.memoryBytes,
      processes: limits.processes,
      cpus: limits.cpus,
      gpus,
      // both count as memory: neither may take all of it
      tmpBytes: Math.floor(limits.memoryBytes / 4),
      shmBytes: Math.floor(limits.memoryBytes / 2),
    }),
    ...systemCallFlags(engine),
    ...["--hostname", "sandbox", "--ulimit", `fsize=${limits.diskBytes}`],
    ...parents(shown.map(({ source, target }) => target ?? source)).flatMap((path) => [
      "--tmpfs",
      `${path}:rw,nosuid,nodev,mode=0711,size=64k`,
    ]),
    // hides the host's devices and control groups; libraries for several GPUs read how these are connected
    ...(gpus.length > 0 ? [] : ["--tmpfs", "/sys:ro,size=4k"]),
    // podman mounts them again over a /sys that is mounted here
    ...(gpus.length > 0 || engine.flavour === "podman" ? ["--tmpfs", "/sys/fs/cgroup:ro,size=4k"] : []),
    ...mountFlags([
      ...imageMounts(image.reference),
      ...shown,
      { source: folder, target: seenAs, writable: true },
      ...withoutLinks(folder, readOnly).map((inside) => ({
        source: join(folder, inside),
        target: join(seenAs, inside),
      })),
    ]),
    ...["--workdir", "/", "--entrypoint", "/bin/sh", image.id, "-c", waits],
  ];
}

/** Parents of the shown folders: an agent may pass through them and cannot list them. */
function parents(reads: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of reads)
    for (let up = dirname(path); up !== "/" && up !== "/tmp" && !up.startsWith("/usr"); up = dirname(up))
      found.add(up);
  return [...found].filter((path) => !reads.includes(path)).sort();
}

/**
 * Docker's own list of system calls is the stricter one. Before version 25 it allows io_uring, in which most holes
 * of the kernel were found for years; podman's list differs by distribution. For those engines our list is used:
 * it refuses what docs.docker.com/engine/security/seccomp names, namespaces, io_uring, AF_ALG (38) and AF_VSOCK
 * (40).
 */
export function systemCallFlags({ flavour, version }: ContainerEngine): string[] {
  const major = Number(/ (\d+)\./.exec(version)?.[1] ?? 0);
  if (flavour === "docker" && major >= 25) return [];
  return ["--security-opt", `seccomp=${join(import.meta.dirname, "sandbox-seccomp.json")}`];
}
