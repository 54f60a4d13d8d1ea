// How the container of a sandbox is asked for. Its first process only waits: it belongs to root without any right, so
// that no program inside can end it, and ends when its standard input does, which is when the supervisor dies.
import { dirname, join } from "node:path";
import type { WallsRequest } from "@mlrb/core/ports/sandbox";
import type { ImageReference } from "@mlrb/core/spec/image-reference";
import { confinementFlags } from "./confinement-flags.ts";
import type { ContainerEngine } from "./container-engine.ts";
import { hostMounts, mountFlags } from "./mount-flags.ts";

/** Label with the mark of the sandbox. */
export const sandboxLabel = "mlrb.sandbox";

const waits = "echo ready; while read -r _; do :; done";

export function sandboxCreation(
  engine: ContainerEngine,
  request: WallsRequest,
  image: { id: string; reference: ImageReference },
): string[] {
  const { folder, seenAs, readOnly, reads, network, limits, gpus, token } = request;
  return [
    ...["create", "--interactive", "--label", `${sandboxLabel}=${token}`],
    ...confinementFlags(engine, {
      memoryBytes: limits.memoryBytes,
      processes: limits.processes,
      cpus: limits.cpus,
      gpus,
      // both count as memory: neither alone may take all of it
      tmpBytes: Math.floor(limits.memoryBytes / 4),
      shmBytes: Math.floor(limits.memoryBytes / 2),
    }),
    ...systemCallFlags(engine),
    ...(network === "full" ? [] : ["--network", "none"]),
    ...["--hostname", "sandbox", "--log-driver", "none"],
    ...["--ulimit", `fsize=${limits.diskBytes}`, "--user", "0:0"],
    // the same users inside and outside: the folder is the harness' to read
    ...(engine.rootless && engine.flavour === "podman" ? ["--userns", "keep-id"] : []),
    ...parents(reads).flatMap((path) => ["--tmpfs", `${path}:rw,nosuid,nodev,mode=0711,size=64k`]),
    // the host's control groups are nothing that a program needs to see
    ...["--tmpfs", "/sys/fs/cgroup:ro,size=4k"],
    ...mountFlags([
      ...(image.reference.kind === "host" ? hostMounts() : []),
      ...reads.map((source) => ({ source })),
      { source: folder, target: seenAs, writable: true },
      ...readOnly.map((inside) => ({ source: join(folder, inside), target: join(seenAs, inside) })),
    ]),
    ...["--workdir", "/", "--entrypoint", "/bin/sh", image.id, "-c", waits],
  ];
}

/** Folders on the way to what is shown: a program may pass through them, and is not told what lies there. */
function parents(reads: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of reads)
    for (let up = dirname(path); up !== "/" && up !== "/tmp" && !up.startsWith("/usr"); up = dirname(up))
      found.add(up);
  return [...found].filter((path) => !reads.includes(path)).sort();
}

/**
 * Docker's own list of system calls is the stricter one, but before version 25 it lets io_uring through, in which most
 * holes of the kernel were found for years; podman's differs by distribution. There, a list of ours is used: what
 * docs.docker.com/engine/security/seccomp names as refused, namespaces, io_uring, AF_ALG (38) and AF_VSOCK (40).
 */
function systemCallFlags({ flavour, version }: ContainerEngine): string[] {
  const major = Number(/ (\d+)\./.exec(version)?.[1] ?? 0);
  if (flavour === "docker" && major >= 25) return [];
  return ["--security-opt", `seccomp=${join(import.meta.dirname, "sandbox-seccomp.json")}`];
}
