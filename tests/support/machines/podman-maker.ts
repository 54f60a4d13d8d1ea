// Makes sandboxes in podman, for the sandbox suite.
import { walledSandbox } from "@mlrb/agents/sandbox/walled-sandbox";
import type { Sandbox, Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { clearDockerWalls, dockerWalls } from "@mlrb/docker/docker-walls";

type Options = Pick<WallsRequest, "network" | "limits" | "reads" | "token"> & { under: string };

const env = { ...process.env, MLRB_CONTAINER_ENGINE: "podman" };

export const podmanWalls = (request: WallsRequest): Promise<Walls> =>
  dockerWalls(request, { env, patienceMs: 0 });

export const open = (options: Options): Promise<Sandbox> =>
  walledSandbox({ ...options, agent: "test", open: podmanWalls, kind: "podman", gpus: [] });

export const sweep = (token: string): Promise<void> => clearDockerWalls(token, env);
