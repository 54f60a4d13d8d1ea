// Stages in containers without an engine that answers, with the profiles that need none. If attempts would start,
// also images that would have to be pulled: a pull that fails after the first attempts would leave paid work
// without its scores.
import type { Instance } from "@mlrb/core/plan/plan";
import { parseImageReference } from "@mlrb/core/spec/image-reference";
import { type Check, missing } from "./check.ts";
import { type Asked, profilesWhere, quoted } from "./gate.ts";

export async function containerGate({ host, starts, ...asked }: Asked): Promise<Check[]> {
  const boxed = starts.filter(inContainer);
  if (boxed.length === 0) return [];
  const engine = await host.engine();
  const names = new Set(boxed.map(({ stage }) => stage.name));
  if ("trouble" in engine) {
    const without = profilesWhere(asked, (other) => !other.some(inContainer)).join(", ");
    const help = `${without === "" ? "" : `without containers: ${without}; `}start Docker or podman, or name one that runs in MLRB_CONTAINER_ENGINE (docs/machines.md)`;
    const found = `${quoted(names)} ${names.size === 1 ? "runs" : "run"} in containers; ${engine.trouble.detail}`;
    return [missing("containers", found, help, { code: "no-container-engine" })];
  }
  const images = containerImages(boxed, "digest");
  if (images.size === 0 || !starts.some(({ stage }) => stage.durable)) return [];
  const { lackingImages } = await import("@mlrb/docker/ensure-image");
  const lacking = await lackingImages(engine, [...images.keys()]);
  return lacking.length === 0 ? [] : [noImage(lacking, images, engine.program)];
}

function noImage(lacking: string[], images: Map<string, Set<string>>, program: string): Check {
  const [first] = lacking as [string];
  const more = lacking.length === 1 ? "" : ` (and ${lacking.length - 1} more images)`;
  return missing(
    "images",
    `${quoted(images.get(first)!)} would run in ${first}, which is not on this host${more}`,
    `attempts start only when every image by digest is here: \`${lacking.map((image) => `${program} pull ${image}`).join(" && ")}\``,
    { code: "missing-image" },
  );
}

function inContainer({ execution }: Pick<Instance, "execution">): boolean {
  return execution.executor === "docker";
}

/** The images of `kind` of instances in containers, each with the names of the stages that run in it. */
export function containerImages(
  instances: Instance[],
  kind: "digest" | "dockerfile",
): Map<string, Set<string>> {
  const images = new Map<string, Set<string>>();
  for (const instance of instances) {
    const { image } = instance.execution;
    if (image === undefined || !inContainer(instance)) continue;
    if (parseImageReference(image).kind !== kind) continue;
    images.getOrInsertComputed(image, () => new Set()).add(instance.stage.name);
  }
  return images;
}
