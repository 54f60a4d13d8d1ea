// Walls of a container, for hosts with an engine: one container holds all programs of an attempt. The container
// ends with its supervisor, however the supervisor ends. After `kill` the next program gets a new container around
// the same folder.
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { type ContainerEngine, containerEngine } from "./container-engine.ts";
import { ensureImage } from "./ensure-image.ts";
import { labelled, removeContainers } from "./left-containers.ts";
import { SandboxContainer } from "./sandbox-container.ts";
import { sandboxLabel } from "./sandbox-flags.ts";

type DockerWallsOptions = {
  env?: NodeJS.ProcessEnv;
  /** The repository, for an image that is a Dockerfile in it. */
  root?: string;
  /** How long to wait for an engine that does not answer: it may be restarting, and an attempt is worth it. */
  patienceMs?: number;
};

/** Programs run as the user who owns `request.folder`. Throws with the reason if no container can be had. */
export async function dockerWalls(request: WallsRequest, options: DockerWallsOptions = {}): Promise<Walls> {
  const { uid, gid } = statSync(request.folder);
  if (uid === 0)
    throw new Error("bug: programs in a container would be root; give their folder to another user");
  const engine = await engineSoon(options);
  const refusal = refusalOf(engine);
  if (refusal !== undefined) throw new Error(refusal);
  const image = await ensureImage(engine, request.image, { root: options.root ?? process.cwd() });
  if (!image.ok) throw new Error(image.detail);
  const place = { engine, request, image, user: `${uid}:${gid}` };
  let opened: Promise<SandboxContainer> | undefined;
  const containerNow = () => opened?.catch(() => undefined);
  const kill = async () => {
    const container = await containerNow();
    opened = undefined;
    await container?.end();
  };
  return {
    kind: engine.flavour,
    where: { sandbox: engine.flavour, engine: engine.version, image: image.id, memoryLimit: "kernel" },
    async exec(asked) {
      if ((await containerNow())?.endedForLimit) opened = undefined;
      opened ??= SandboxContainer.open(place);
      let container: SandboxContainer;
      try {
        container = await opened;
      } catch (error) {
        opened = undefined;
        return { kind: "lost", detail: (error as Error).message };
      }
      if (!container.running) return { kind: "lost", detail: "the sandbox's container has ended" };
      return await container.run(asked);
    },
    freeze: async () => (await (await containerNow())?.pause()) ?? true,
    async thaw() {
      await (await containerNow())?.unpause();
      return true;
    },
    kill,
    async close() {
      const container = await containerNow();
      await kill();
      await container?.removed();
      await clear(engine, request.token); // the engine may have been away when a container was to be removed
    },
  };
}

/** Why this engine cannot hold untrusted programs; undefined if it can. */
function refusalOf(engine: ContainerEngine): string | undefined {
  if (engine.rootless && engine.flavour === "docker")
    return (
      "a rootless Docker cannot hold untrusted programs: their files would belong to users whom this one may not " +
      "read; use rootless podman (MLRB_CONTAINER_ENGINE=podman), a Docker of root, or bubblewrap"
    );
  if (!engine.holds.memory)
    return (
      `${engine.version} cannot limit the memory of a container: it was given no control group for memory; ` +
      "use a host with control groups of version 2 and let systemd delegate them (docs/machines.md), an engine of " +
      "root, or bubblewrap"
    );
  return undefined;
}

async function engineSoon({ env, patienceMs = 60_000 }: DockerWallsOptions): Promise<ContainerEngine> {
  for (const begin = performance.now(); ; ) {
    const engine = await containerEngine(env);
    if (!("trouble" in engine)) return engine;
    const mayCome = engine.trouble.kind === "no-daemon" || engine.trouble.kind === "timed-out";
    if (!mayCome || performance.now() - begin > patienceMs) throw new Error(engine.trouble.detail);
    await sleep(500);
  }
}

/** Removes what a killed supervisor left of sandboxes with this mark. */
export async function clearDockerWalls(token: string, env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const engine = await containerEngine(env);
  if (!("trouble" in engine)) await clear(engine, token);
}

async function clear(engine: ContainerEngine, token: string): Promise<void> {
  const ids = await labelled(engine, `${sandboxLabel}=${token}`);
  if (!("trouble" in ids)) await removeContainers(engine, ids);
}
