// The container engine of this host: which one it is, and the few things about it that change how containers
// are asked for. Found out once, when the first container is wanted.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type CallOptions, type CallResult, type CallTrouble, callEngine } from "./engine-call.ts";

export type ContainerEngine = {
  flavour: "docker" | "podman";
  /** e.g. `docker 20.10.24`. */
  version: string;
  /** Root inside is whoever runs the engine. */
  rootless: boolean;
  /** Users inside are others outside (`userns-remap`). */
  remapped: boolean;
  call(args: readonly string[], options?: Partial<CallOptions>): Promise<CallResult>;
  program: string;
  env: NodeJS.ProcessEnv;
};

/** How long a call may take that does not wait for a program inside: on a busy disk some take seconds. */
const callMs = 60_000;

/** With the engine that the user named, or docker, or podman where only that is there. */
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
  // docker of old exits with 0 and says on standard error that nobody answers
  if (version.trim() === "" || version.startsWith("<")) {
    const again = await call(["version", "--format", "{{.Server.Version}}"]);
    if (!again.ok) return { trouble: again.trouble };
  }
  const said = facts.join(" ");
  return {
    flavour,
    version: `${flavour} ${version.trim().replace(/\+.*$/, "")}`,
    rootless: /name=rootless|^rootless=true/m.test(said),
    remapped: /name=userns/.test(said),
    call,
    program,
    env,
  };
}

// one line, since a person may be told to paste it
const infoOfDocker = "{{.ServerVersion}} {{json .SecurityOptions}}";
const infoOfPodman = "{{.Version.Version}} rootless={{.Host.Security.Rootless}}";

function onPath(program: string, env: NodeJS.ProcessEnv): boolean {
  return (env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
