// Refuses a run whose stages need containers if no container engine answers, before anything starts, and names the
// profiles that need none. If attempts would start, it also refuses images that would have to be pulled: a pull that
// fails after the first attempts would leave paid work without its scores.

import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { parseImageReference } from "@mlrb/core/spec/image-reference";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import type { Request } from "../request/request.ts";
import { type Gate, type ProfiledPlan, profilesWhere, startedIn } from "./gate.ts";

/** Why the run may not start, if it may not. */
export async function containerGate(request: Request, gate: Gate): Promise<Diagnostic | undefined> {
  const { plan, selected } = request;
  if (!selected.some((index) => inContainer(plan.instances[index]!))) return undefined;
  const { containerEngine } = await import("@mlrb/docker/container-engine");
  const engine = await containerEngine();
  if (!("trouble" in engine) && containerImages(plan, selected, "digest").size === 0) return undefined;
  const { previews } = await previewPlan(plan, selected, gate);
  const starts = startedIn(previews).map(({ index }) => index);
  const wanting = starts.filter((index) => inContainer(plan.instances[index]!));
  if (wanting.length === 0) return undefined;
  if ("trouble" in engine) return noEngine(request, wanting, engine.trouble.detail);
  if (!starts.some((index) => plan.instances[index]!.stage.durable)) return undefined;
  const images = containerImages(plan, wanting, "digest");
  const { lackingImages } = await import("@mlrb/docker/ensure-image");
  const lacking = await lackingImages(engine, [...images.keys()]);
  return lacking.length === 0 ? undefined : noImage(lacking, images, engine.program);
}

function noImage(lacking: string[], images: Map<string, Set<string>>, program: string): Diagnostic {
  const [first] = lacking as [string];
  const stages = quoted(images.get(first)!);
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
    selected.every((index) => !inContainer(plan.instances[index]!)),
  ).join(", ");
  return {
    code: "no-container-engine",
    message: `${named.join(", ")} ${stages.length === 1 ? "runs" : "run"} in containers; ${trouble}`,
    help: `${without === "" ? "" : `without containers: ${without}; `}\`pnpm pipeline doctor\` checks the engine`,
  };
}

function inContainer({ execution }: Pick<Instance, "execution">): boolean {
  return execution.executor === "docker";
}

/** The images of `kind` of instances in containers, each with the names of the stages that run in it. */
export function containerImages(
  plan: Plan,
  indices: number[],
  kind: "digest" | "dockerfile",
): Map<string, Set<string>> {
  const images = new Map<string, Set<string>>();
  for (const index of indices) {
    const instance = plan.instances[index]!;
    const { image } = instance.execution;
    if (image === undefined || !inContainer(instance)) continue;
    if (parseImageReference(image).kind !== kind) continue;
    images.getOrInsertComputed(image, () => new Set()).add(instance.stage.name);
  }
  return images;
}

/** `"one", "two"`. */
export function quoted(names: Iterable<string>): string {
  return [...names].map((name) => `"${name}"`).join(", ");
}
