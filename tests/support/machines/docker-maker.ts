// Makes sandboxes in containers for the sandbox suite. Supervisors that a test kills import this module too, so
// DOCKER_HOST names the engine.
import { walledSandbox } from "@mlrb/agents/sandbox/walled-sandbox";
import type { Sandbox, WallsRequest } from "@mlrb/core/ports/sandbox";
import { clearDockerWalls, dockerWalls } from "@mlrb/docker/docker-walls";

type Options = Pick<WallsRequest, "network" | "limits" | "reads" | "token"> & { under: string };

export const open = (options: Options): Promise<Sandbox> =>
  walledSandbox({ ...options, agent: "test", open: dockerWalls, kind: "docker", gpus: [] });

export const sweep = clearDockerWalls;
