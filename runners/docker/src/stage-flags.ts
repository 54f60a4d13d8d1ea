// Arguments that create the container of a stage that this project's code runs in. Paths are the same inside and
// outside, so programs, messages and outputs are the same as on the host.
import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { commandLine } from "@mlrb/core/ports/command-line";
import type { ExecutionRequest, StageWalls } from "@mlrb/core/ports/executor";
import { packageFolders } from "@mlrb/kit/files/package-folders";
import { confinementFlags } from "./confinement-flags.ts";
import type { ContainerEngine } from "./container-engine.ts";
import type { ContainerImage } from "./ensure-image.ts";
import { readMounts } from "./image-environment.ts";
import { imageMounts, type Mount, mountFlags } from "./mount-flags.ts";
import { systemCallFlags } from "./sandbox-flags.ts";

/** Seconds between TERM and KILL. */
export const graceS = 5;

/** Output goes into the log by a descriptor inside: it survives the end of the runner and of the engine. */
const script = 'log=$1; shift; exec "$@" >>"$log" 2>&1';

/** `env`: variables whose values must not appear in a list of processes. */
export function stageCreation(
  engine: ContainerEngine,
  request: ExecutionRequest,
  { image, labels }: { image: ContainerImage; labels: Record<string, string> },
): { args: string[]; env: Record<string, string> } {
  const { root, limits, network, cpus, gpus, walls } = request;
  const { flags, env } = variableFlags(variablesInside(request));
  const args = [
    "create",
    ...Object.entries(labels).flatMap(([name, value]) => ["--label", `${name}=${value}`]),
    ...confinementFlags(engine, {
      user: wallsUser(engine, request) ?? userOf(engine),
      network: network === undefined || network === "full" ? "host" : "none",
      memoryBytes: limits.memoryBytes,
      processes: walls?.limits.processes ?? 16_384,
      cpus,
      gpus,
      shmBytes: 2 ** 30,
    }),
    ...["--stop-timeout", String(graceS)],
    ...(walls
      ? [...systemCallFlags(engine), "--ulimit", `fsize=${walls.limits.fileBytes}`]
      : groupFlags(engine)),
    ...mountFlags([
      ...imageMounts(image.reference),
      ...(walls ? wallsMounts(walls, request, image) : stageMounts(request, image)),
    ]),
    ...["--workdir", root],
    ...flags,
    ...["--entrypoint", "/bin/sh", image.id, "-c", script, "mlrb", request.log],
    ...commandLine(request, process.execPath),
  ];
  return { args, env };
}

function stageMounts(
  { root, work, readOnly, reads, writes, environment }: ExecutionRequest,
  image: ContainerImage,
): Mount[] {
  const node = dirname(realpathSync(process.execPath));
  const seen = [root, "/usr"].some((folder) => node === folder || node.startsWith(`${folder}/`));
  const { stores, linked } = packageFolders(root);
  return [
    { source: root },
    ...(seen ? [] : [{ source: node, target: dirname(process.execPath) }]),
    ...readMounts(
      [...stores, ...linked, ...reads].filter((path) => existsSync(path)),
      environment,
      image,
    ),
    ...writes.map((source) => ({ source, writable: true })),
    { source: work, writable: true },
    ...(readOnly === undefined ? [] : [{ source: readOnly }]),
  ];
}

/** A stage that opens what untrusted code made sees nothing of the repository but the paths that it declares. */
function wallsMounts(
  { reads, writes }: StageWalls,
  { environment, log }: ExecutionRequest,
  image: ContainerImage,
): Mount[] {
  return [
    ...readMounts(
      reads.filter((path) => existsSync(path)),
      environment,
      image,
    ),
    ...[...writes, log].map((source) => ({ source, writable: true })),
  ];
}

/** `UID:GID` of such a stage, where the engine can give it a user of its own. */
export function wallsUser({ rootless }: ContainerEngine, { walls }: ExecutionRequest): string | undefined {
  return rootless || !walls?.user ? undefined : `${walls.user.uid}:${walls.user.gid}`;
}

/** The runner's own user, so the runner can read and remove what the stage writes. */
function userOf({ rootless, flavour }: ContainerEngine): string {
  if (rootless && flavour === "docker") return "0:0";
  return `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
}

function groupFlags({ rootless }: ContainerEngine): string[] {
  if (rootless) return [];
  const group = process.getgid?.() ?? 0;
  const more = (process.getgroups?.() ?? []).filter((one) => one !== group);
  return more.flatMap((one) => ["--group-add", String(one)]);
}

/**
 * The engine renumbers the devices that it shows: the host's device list would hide them. MLRB_TOKEN stays
 * outside: a later run ends every process with a dead run's token, and may want to adopt this one.
 */
function variablesInside({ env, gpus, walls }: ExecutionRequest): Record<string, string> {
  const outside = new Set(["CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "MLRB_TOKEN"]);
  // this user has no name inside, and some libraries read USER first
  const named = process.getuid?.() === 0 && !walls ? {} : { USER: "runner" };
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !outside.has(name)));
  return { ...named, ...kept, MLRB_GPUS: String(gpus.length) };
}

/** Variables that the engine's own program reads: they must keep the program's values, and hold no secrets. */
const ofTheProgram =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|LANG|SSH_.*|SSL_.*|DOCKER_.*|PODMAN_.*|CONTAINER.*|BUILDAH_.*|XDG_.*|GO.*|.*_proxy)$/i;

function variableFlags(variables: Record<string, string>): { flags: string[]; env: Record<string, string> } {
  const all = Object.entries(variables);
  const isOfProgram = ([name]: [string, string]) => ofTheProgram.test(name);
  return {
    flags: all.flatMap((one) => ["--env", isOfProgram(one) ? one.join("=") : one[0]]),
    env: Object.fromEntries(all.filter((one) => !isOfProgram(one))),
  };
}
