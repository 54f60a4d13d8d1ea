// The programs that can build the walls of a stage on a node, where its user can make no namespaces: those that isolate
// agents there, in the same order.
import {
  type ChosenEngine,
  firstEngine,
  nodeEngines,
  type SandboxEngine,
  type SandboxNeeds,
} from "@mlrb/agents/sandbox/sandbox-engines";
import { podman } from "@mlrb/docker/podman-on-node";

type Image = string | undefined;

export async function stageWallsOnNode({ image }: { image: Image }): Promise<ChosenEngine> {
  return await firstEngine(stageEngines(image), stageNeeds(image));
}

/**
 * With an image only podman: in an image, Apptainer would run the stage in the node's Python environment, in place of the
 * image's.
 */
export function stageEngines(image: Image): SandboxEngine[] {
  return nodeEngines(podman).filter(({ kind }) => image === undefined || kind === "podman");
}

/** The limit on memory may be polled, as in the walls of the local executor. */
export function stageNeeds(image: Image): SandboxNeeds {
  return { image, weakLimits: true };
}
