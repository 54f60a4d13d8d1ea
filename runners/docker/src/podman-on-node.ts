// podman on a node of a cluster: a Slurm job has the variables of the host that submitted it, and a stage has a HOME of
// its own. podman keeps its images in the user's home, and its state in the user's folder of this machine.
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import type { ExecutionRequest, Executor } from "@mlrb/core/ports/executor";
import type { Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { containerEngine } from "./container-engine.ts";
import { DockerExecutor } from "./docker-executor.ts";
import { dockerWalls, refusalOf } from "./docker-walls.ts";
import { ensureImage } from "./ensure-image.ts";

/** Why podman cannot hold untrusted programs here, with what to ask for; undefined if it can. */
async function podmanMissing(): Promise<string | undefined> {
  const engine = await containerEngine(podmanVariables(), { timeMs: 30_000 });
  if ("trouble" in engine)
    return engine.trouble.kind === "no-program"
      ? "podman is not installed"
      : `podman cannot be used here: ${engine.trouble.detail}`;
  return refusalOf(engine);
}

/** Walls of a container, in podman whatever other engine is installed. */
async function podmanWalls(request: WallsRequest): Promise<Walls> {
  return await dockerWalls(request, { env: podmanVariables(), patienceMs: 0 });
}

/** Pulls or builds the image on this node, unless it is here. Throws with the reason. */
async function preparePodman(image: string): Promise<void> {
  const engine = await containerEngine(podmanVariables());
  if ("trouble" in engine) throw new Error(engine.trouble.detail);
  const ensured = await ensureImage(engine, image, { root: process.cwd() });
  if (!ensured.ok) throw new Error(ensured.detail);
}

/** For a sandbox that is chosen on the node. */
export const podman = { missing: podmanMissing, open: podmanWalls, prepare: preparePodman };

/** For one trusted stage with an image: as in the docker executor, and its container ends with this process. */
export function podmanExecutor({ root, work, token }: ExecutionRequest): Executor {
  const others = { isLive: () => true, take: () => false }; // the next job has a work folder of its own
  return new DockerExecutor({ root, state: work, run: token, held: true, env: podmanVariables(), ...others });
}

function podmanVariables(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const { uid, homedir } = userInfo();
  const { XDG_RUNTIME_DIR: _, ...rest } = env;
  const runtime = `/run/user/${uid}`;
  return {
    ...rest,
    HOME: homedir,
    MLRB_CONTAINER_ENGINE: "podman",
    ...(existsSync(runtime) && { XDG_RUNTIME_DIR: runtime }),
  };
}
