// How a trusted stage is asked for as a container: everything at the same absolute paths inside as outside, so
// that programs, messages and what they write are the same wherever they run.
import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { commandLine } from "@mlrb/core/ports/command-line";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import type { ImageReference } from "@mlrb/core/spec/image-reference";
import { confinementFlags } from "./confinement-flags.ts";
import type { ContainerEngine } from "./container-engine.ts";
import { hostMounts, type Mount, mountFlags } from "./mount-flags.ts";
import { packageFolders } from "./package-folders.ts";

/** How long a stage that was asked to end may take before it is killed, s. */
export const graceS = 5;

/**
 * Output goes straight into the log, by a descriptor inside: it is whole whatever becomes of runner and engine,
 * and none of it passes through them.
 */
const script = 'log=$1; shift; exec "$@" >>"$log" 2>&1';

export type StageContainer = {
  image: { id: string; reference: ImageReference };
  labels: Record<string, string>;
};

/** The arguments of `create`, and the variables whose values stand in no list of processes. */
export function stageCreation(
  engine: ContainerEngine,
  request: ExecutionRequest,
  { image, labels }: StageContainer,
): { args: string[]; env: Record<string, string> } {
  const { root, limits, network, cpus, gpus } = request;
  const { flags, env } = variableFlags(variablesInside(request));
  const args = [
    "create",
    ...Object.entries(labels).flatMap(([name, value]) => ["--label", `${name}=${value}`]),
    ...confinementFlags(engine, {
      memoryBytes: limits.memoryBytes,
      processes: 16_384,
      cpus,
      gpus,
      shmBytes: 2 ** 30,
    }),
    ...["--network", network === "none" ? "none" : "host"],
    ...["--log-driver", "none", "--stop-timeout", String(graceS)],
    ...userFlags(engine),
    ...mountFlags([...(image.reference.kind === "host" ? hostMounts() : []), ...stageMounts(request)]),
    ...["--workdir", root],
    ...flags,
    ...["--entrypoint", "/bin/sh", image.id, "-c", script, "mlrb", request.log],
    ...commandLine(request, process.execPath),
  ];
  return { args, env };
}

function stageMounts({ root, work, readOnly, reads, writes }: ExecutionRequest): Mount[] {
  const node = dirname(realpathSync(process.execPath));
  const seen = [root, "/usr"].some((folder) => node === folder || node.startsWith(`${folder}/`));
  return [
    { source: root },
    ...(seen ? [] : [{ source: node, target: dirname(process.execPath) }]),
    ...[...packageFolders(root), ...reads].filter((path) => existsSync(path)).map((source) => ({ source })),
    ...writes.map((source) => ({ source, writable: true })),
    { source: work, writable: true },
    ...(readOnly === undefined ? [] : [{ source: readOnly }]),
  ];
}

/** The runner's own user and groups, so that what the stage writes is the runner's to read and to remove. */
function userFlags(engine: ContainerEngine): string[] {
  const user = process.getuid?.() ?? 0;
  const group = process.getgid?.() ?? 0;
  if (engine.rootless)
    return engine.flavour === "podman"
      ? ["--userns", "keep-id", "--user", `${user}:${group}`]
      : ["--user", "0:0"];
  const more = (process.getgroups?.() ?? []).filter((one) => one !== group);
  return ["--user", `${user}:${group}`, ...more.flatMap((one) => ["--group-add", String(one)])];
}

/**
 * The engine shows the devices that it was told of, under new numbers: a list of the host's would hide them.
 * The mark of a run's processes stays outside: a later run that ends what bears it would end what it may adopt.
 */
function variablesInside({ env, gpus }: ExecutionRequest): Record<string, string> {
  const outside = new Set(["CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "MLRB_TOKEN"]);
  // this user has no name inside, and some libraries ask for it before they look for anything else
  const named = process.getuid?.() === 0 ? {} : { USER: "runner" };
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !outside.has(name)));
  return { ...named, ...kept, MLRB_GPUS: String(gpus.length) };
}

/** Variables that the engine's own program reads must keep their values for it; they hold no secrets. */
const ofTheProgram =
  /^(PATH|HOME|TMPDIR|LANG|SSH_.*|SSL_.*|DOCKER_.*|PODMAN_.*|CONTAINER.*|BUILDAH_.*|XDG_.*|GO.*|.*_proxy)$/i;

function variableFlags(variables: Record<string, string>): { flags: string[]; env: Record<string, string> } {
  const flags: string[] = [];
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (ofTheProgram.test(name)) flags.push("--env", `${name}=${value}`);
    else {
      flags.push("--env", name);
      env[name] = value;
    }
  }
  return { flags, env };
}
