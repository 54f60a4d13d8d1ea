// Makes sandboxes in containers for the suite that all sandboxes go through. A supervisor that is to be killed
// imports it too: the engine is the one that DOCKER_HOST names.
import { walledSandbox } from "@mlrb/agents/sandbox/walled-sandbox";
import type { Sandbox, WallsRequest } from "@mlrb/core/ports/sandbox";
import { clearDockerWalls, dockerWalls } from "@mlrb/docker/docker-walls";

type Options = Pick<WallsRequest, "network" | "limits" | "reads" | "token"> & { under: string };

export const open = (options: Options): Promise<Sandbox> =>
  walledSandbox({ ...options, agent: "test", open: dockerWalls, kind: "docker", gpus: [] });

export const sweep = clearDockerWalls;
