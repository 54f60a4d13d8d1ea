// Refuses a run whose stages need containers if no container engine answers, before anything starts, and names the
// profiles that need none. If attempts would start, it also refuses images that would have to be pulled: a pull that
// fails after the first attempts would leave paid work without its scores.

import type { Plan } from "@mlrb/core/plan/plan";
import { parseImageReference } from "@mlrb/core/spec/image-reference";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import type { Request } from "../request/request.ts";
import { type Gate, type ProfiledPlan, profilesWhere, startedIn } from "./gate.ts";

/** Why the run may not start, if it may not. */
export async function containerGate(request: Request, gate: Gate): Promise<Diagnostic | undefined> {
  const { plan, selected } = request;
  if (!selected.some((index) => inContainer(plan, index))) return undefined;
  const { containerEngine } = await import("@mlrb/docker/container-engine");
  const engine = await containerEngine();
  if (!("trouble" in engine) && pulledImages(plan, selected).size === 0) return undefined;
  const { previews } = await previewPlan(plan, selected, gate);
  const starts = startedIn(previews).map(({ index }) => index);
  const wanting = starts.filter((index) => inContainer(plan, index));
  if (wanting.length === 0) return undefined;
  if ("trouble" in engine) return noEngine(request, wanting, engine.trouble.detail);
  if (!starts.some((index) => plan.instances[index]!.stage.durable)) return undefined;
  const images = pulledImages(plan, wanting);
  const { lackingImages } = await import("@mlrb/docker/ensure-image");
  const lacking = await lackingImages(engine, [...images.keys()]);
  return lacking.length === 0 ? undefined : noImage(lacking, images, engine.program);
}

/** The images by digest of instances in containers, each with the stages that run in it. */
function pulledImages(plan: Plan, indices: number[]): Map<string, Set<string>> {
  const images = new Map<string, Set<string>>();
  for (const index of indices) {
    const { stage, execution } = plan.instances[index]!;
    const { image } = execution;
    if (image === undefined || !inContainer(plan, index)) continue;
    if (parseImageReference(image).kind !== "digest") continue;
    images.getOrInsertComputed(image, () => new Set()).add(stage.name);
  }
  return images;
}

function noImage(lacking: string[], images: Map<string, Set<string>>, program: string): Diagnostic {
  const [first] = lacking as [string];
  const stages = [...images.get(first)!].map((name) => `"${name}"`).join(", ");
  const more = lacking.length === 1 ? "" : ` (and ${lacking.length - 1} more images)`;
  return {
    code: "missing-image",
    message: `${stages} would run in ${first}, which is not on this host${more}`,
    help: `attempts start only when every image by digest is here: \`${lacking.map((image) => `${program} pull ${image}`).join(" && ")}\``,
  };
}

/** The problem that no engine answers. */
function noEngine(request: ProfiledPlan, wanting: number[], trouble: string): Diagnostic {
  const { plan } = request;
  const stages = [...new Set(wanting.map((index) => `"${plan.instances[index]!.stage.name}"`))];
  const named = stages.length > 3 ? [...stages.slice(0, 3), `${stages.length - 3} more stages`] : stages;
  const without = profilesWhere(request, ({ plan, selected }) =>
    selected.every((index) => !inContainer(plan, index)),
  ).join(", ");
  return {
    code: "no-container-engine",
    message: `${named.join(", ")} ${stages.length === 1 ? "runs" : "run"} in containers; ${trouble}`,
    help: `${without === "" ? "" : `without containers: ${without}; `}\`pnpm pipeline doctor\` checks the engine`,
  };
}

function inContainer(plan: Plan, index: number): boolean {
  return plan.instances[index]!.execution.executor === "docker";
}
