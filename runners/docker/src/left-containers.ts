// Containers of stages that dead runs have started. They do not depend on a runner, so they keep running. The next
// run waits for those whose results it needs, and removes the others.

import { readFormat } from "@mlrb/formats/read-format";
import { type ContainerState, inspectedContainer } from "@mlrb/formats/stage/container-state";
import type { ContainerEngine } from "./container-engine.ts";
import type { CallTrouble } from "./engine-call.ts";
import { type LabelledStage, readStageLabels, stateLabel } from "./stage-labels.ts";

export type LeftContainer = LabelledStage & { id: string; state: ContainerState };

/** Every container of a stage of this state folder, by their time of creation. */
export async function stageContainers(
  engine: ContainerEngine,
  state: string,
): Promise<LeftContainer[] | { trouble: CallTrouble }> {
  const ids = await labelled(engine, `mlrb.state=${stateLabel(state)}`);
  if ("trouble" in ids) return ids;
  if (ids.length === 0) return [];
  const format =
    '{"id":{{json .Id}},"created":{{json .Created}},"state":{{json .State}},"labels":{{json .Config.Labels}}}';
  const looked = await engine.call(["inspect", "--type", "container", "--format", format, ...ids]);
  // a container may be removed meanwhile: the others are still listed
  if (!looked.ok && looked.trouble.kind !== "container-missing") return { trouble: looked.trouble };
  const lines = looked.ok ? looked.stdout.split("\n").filter(Boolean) : [];
  const found = lines.flatMap((line) => {
    const reading = readFormat(inspectedContainer, line);
    return reading.kind === "ok" ? [reading.value] : [];
  });
  return found
    .sort((a, b) => (a.created < b.created ? -1 : 1))
    .map(({ id, state, labels }) => ({ id, state, ...readStageLabels(labels) }));
}

/** Ids of the containers with a label, running or not. */
export async function labelled(
  engine: ContainerEngine,
  label: string,
): Promise<string[] | { trouble: CallTrouble }> {
  const listed = await engine.call(["ps", "--all", "--quiet", "--no-trunc", "--filter", `label=${label}`]);
  return listed.ok ? listed.stdout.split("\n").filter(Boolean) : { trouble: listed.trouble };
}

export async function removeContainers(engine: ContainerEngine, ids: string[]): Promise<void> {
  if (ids.length > 0) await engine.call(["rm", "--force", "--volumes", ...ids]);
}
