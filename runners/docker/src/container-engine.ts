// Finds the container engine of this host, and the facts about it that change how containers are created.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { quiet } from "@mlrb/kit/processes/process-table";
import {
  type CallOptions,
  type CallResult,
  type CallTrouble,
  callEngine,
  type EngineProgram,
} from "./engine-call.ts";

export type ContainerEngine = EngineProgram & {
  flavour: "docker" | "podman";
  /** e.g. `docker 20.10.24`. */
  version: string;
  /** Root inside is the user who runs the engine. */
  rootless: boolean;
  /** Users inside have other ids outside (`userns-remap`). */
  remapped: boolean;
  /** Which limits of a container it enforces: a rootless engine enforces those whose control group it was given. */
  holds: EngineLimits;
  call(args: readonly string[], options?: Partial<CallOptions>): Promise<CallResult>;
};

type EngineLimits = { memory: boolean; processes: boolean; cpus: boolean };

/** Limit of a call that does not wait for a program inside: on a busy disk some take seconds. */
const callMs = 60_000;

/** The engine in MLRB_CONTAINER_ENGINE, else docker, or podman if only podman is installed. */
export async function containerEngine(
  env: NodeJS.ProcessEnv = process.env,
  { timeMs = callMs } = {},
): Promise<ContainerEngine | { trouble: CallTrouble }> {
  const named = env.MLRB_CONTAINER_ENGINE;
  const program = named || (!onPath("docker", env) && onPath("podman", env) ? "podman" : "docker");
  const flavour = /podman/.test(program) ? "podman" : "docker";
  const call = (args: readonly string[], options: Partial<CallOptions> = {}) =>
    callEngine({ program, env }, args, { timeMs, ...options });
  const format = flavour === "podman" ? infoOfPodman : infoOfDocker;
  const asked = await call(["info", "--format", format]);
  if (!asked.ok) return { trouble: asked.trouble };
  const [version = "", ...facts] = asked.stdout.trim().split(" ");
  // old versions of docker exit with 0 and report on standard error that the daemon does not answer
  if (version.trim() === "" || version.startsWith("<")) {
    const again = await call(["version", "--format", "{{.Server.Version}}"]);
    if (!again.ok) return { trouble: again.trouble };
  }
  const number = version.trim().replace(/\+.*$/, "");
  return { flavour, version: `${flavour} ${number}`, ...engineFacts(facts.join(" ")), call, program, env };
}

// one line: errors quote the call for a person to paste
const infoOfDocker =
  "{{.ServerVersion}} memory={{.MemoryLimit}} processes={{.PidsLimit}} cpus={{.CPUCfsQuota}} {{json .SecurityOptions}}";
const infoOfPodman = "{{.Version.Version}} {{json .Host}}";

/** What an engine says of itself. An engine that says nothing of a limit is old, and enforces it. */
export function engineFacts(said: string): Pick<ContainerEngine, "rootless" | "remapped" | "holds"> {
  const controllers = /"cgroupControllers":(\[[^\]]*\]|null)/.exec(said)?.[1];
  const holds = (limit: string, controller: string) =>
    !said.includes(`${limit}=false`) && (controllers?.includes(`"${controller}"`) ?? true);
  return {
    rootless: /name=rootless|"rootless":true/.test(said),
    remapped: /name=userns/.test(said),
    holds: {
      memory: holds("memory", "memory"),
      processes: holds("processes", "pids"),
      cpus: holds("cpus", "cpu"),
    },
  };
}

function onPath(program: string, env: NodeJS.ProcessEnv): boolean {
  const folders = (env.PATH ?? "").split(delimiter);
  return folders.some((folder) => quiet(() => accessSync(join(folder, program), constants.X_OK) ?? true));
}
