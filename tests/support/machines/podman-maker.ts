// Makes sandboxes in podman, as on a node of a cluster, for the sandbox suite.
import { walledSandbox } from "@mlrb/agents/sandbox/walled-sandbox";
import type { Sandbox, WallsRequest } from "@mlrb/core/ports/sandbox";
import { clearDockerWalls } from "@mlrb/docker/docker-walls";
import { podman } from "@mlrb/docker/podman-on-node";

type Options = Pick<WallsRequest, "network" | "limits" | "reads" | "token"> & { under: string };

export const open = (options: Options): Promise<Sandbox> =>
  walledSandbox({ ...options, agent: "test", open: podman.open, kind: "podman", gpus: [] });

export const sweep = (token: string): Promise<void> =>
  clearDockerWalls(token, { ...process.env, MLRB_CONTAINER_ENGINE: "podman" });
