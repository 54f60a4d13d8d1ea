// Makes sandboxes behind Apptainer's walls for the suite that every sandbox must pass.
import type { Sandbox, WallsRequest } from "@mlrb/core/ports/sandbox";
import { apptainerWalls } from "../sandbox/apptainer-walls.ts";
import { clearBubblewrap } from "../sandbox/bubblewrap-walls.ts";
import { walledSandbox } from "../sandbox/walled-sandbox.ts";

type Options = Pick<WallsRequest, "network" | "limits" | "reads" | "token"> & { under: string };

export const open = (options: Options): Promise<Sandbox> =>
  walledSandbox({ ...options, agent: "test", open: apptainerWalls, kind: "apptainer", gpus: [] });

export const sweep = clearBubblewrap;
