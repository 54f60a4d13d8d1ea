// How a stage runs on a node of a cluster. One that opens what untrusted code made has walls: namespaces of this user as on
// any machine, else the first program that isolates agents there. One with an image runs in a container. Sites differ in
// what they allow: AppArmor, for one, may grant namespaces to podman or Apptainer and to no other program.
import { appendFileSync } from "node:fs";
import type { ExecutionRequest, Executor, Running } from "@mlrb/core/ports/executor";
import type { Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { runInWalls } from "./walled-stage.ts";
import { wallsMissing } from "./walls.ts";

/** Tries the programs that can build walls here, in the order of preference. `passed` says why each one before cannot. */
export type ChooseWalls = (needs: { image: string | undefined }) => Promise<
  | {
      kind: "chosen";
      engine: {
        kind: string;
        open(request: WallsRequest): Promise<Walls>;
        prepare?(image: string): Promise<void>;
      };
      passed: string[];
    }
  | { kind: "none"; passed: string[] }
>;

/** Why namespaces are no walls for a stage with an image. */
const imageless = "they show the node's own programs, and no image";

/** What other programs of the node can do for a stage. */
export type NodePrograms = {
  chooseWalls: ChooseWalls;
  /** The executor of a trusted stage with an image, for it alone. */
  containers(request: ExecutionRequest): Promise<Executor>;
};

type Options = NodePrograms & {
  /** The executor of this node. */
  local: Executor;
  /** Why this user can build no namespaces; undefined if it can. */
  missing?: () => Promise<string | undefined>;
};

export async function startOnNode(
  request: ExecutionRequest,
  { local, chooseWalls, containers, missing = wallsMissing }: Options,
): Promise<Running> {
  const { walls, image, log, relay } = request;
  // an attempt's image is its sandbox's
  if (!walls && (image === undefined || relay)) return local.start(request);
  const why = image === undefined ? await missing() : imageless;
  if (why === undefined) return local.start(request);
  const found = await chooseWalls({ image });
  const passed = [...(walls ? [`namespaces: ${why}`] : []), ...found.passed];
  if (found.kind === "chosen") {
    const { engine } = found;
    if (!walls) return await closedAtEnd(await containers(request), request);
    appendFileSync(log, `mlrb: walls: ${engine.kind} (not ${passed.join("; not ")})\n`);
    return runInWalls({ ...request, walls }, async (wanted) => {
      if (image !== undefined) await engine.prepare?.(image);
      return await engine.open(wanted);
    });
  }
  const what = walls ? "walls" : "container";
  appendFileSync(log, passed.map((one) => `mlrb: no ${what} by ${one}\n`).join(""));
  if (walls && !walls.required && image === undefined) return local.start(request); // under its limits alone, as on any machine
  return refused(image === undefined ? noWalls : noImage(image));
}

// without the reasons: causes reach reports, which must be equal on every machine
const noWalls =
  "it opens files that untrusted code made, and nothing can build walls on this node (its log says why); ask the " +
  "administrator for user namespaces, or for bubblewrap, podman or Apptainer on the nodes (docs/cluster.md), or run " +
  "the stage with `executor: local`";

async function closedAtEnd(executor: Executor, request: ExecutionRequest): Promise<Running> {
  const running = executor.start(request);
  return { ...running, ended: running.ended.finally(() => executor.close?.()) };
}

function refused(detail: string): Running {
  return { ended: Promise.resolve({ kind: "failed", cause: "machine", detail }), askToEnd() {}, kill() {} };
}

function noImage(image: string): string {
  return (
    `this node cannot run the image ${image} for it (its log says why); ask the administrator for rootless podman ` +
    "with control groups of its own for each user (docs/cluster.md), or run the stage with `executor: docker`"
  );
}
