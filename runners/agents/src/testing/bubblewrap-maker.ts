// Makes sandboxes behind bubblewrap's walls for the suite that every sandbox must pass.
import type { Sandbox, WallsRequest } from "@mlrb/core/ports/sandbox";
import { bubblewrapWalls, clearBubblewrap } from "../sandbox/bubblewrap-walls.ts";
import { walledSandbox } from "../sandbox/walled-sandbox.ts";

type Options = Pick<WallsRequest, "network" | "limits" | "reads" | "token"> & { under: string };

export const open = (options: Options): Promise<Sandbox> =>
  walledSandbox({ ...options, agent: "test", open: bubblewrapWalls, kind: "bubblewrap", gpus: [] });

export const sweep = clearBubblewrap;
