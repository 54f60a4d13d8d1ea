// Builds the images of Dockerfiles before attempts start: a build that fails after the first attempts would leave
// paid work without its scores. Runs without attempts build an image when its first stage needs it.

import { parseImageReference } from "@mlrb/core/spec/image-reference";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import type { Request } from "../request/request.ts";
import { containerImages } from "./container-gate.ts";
import { type Deciding, quoted, startedIn } from "./gate.ts";

/** The problem of the first image that cannot be built; undefined once all are here. `say` prints what is being built. */
export async function imagesBuilt(
  request: Request,
  gate: Deciding,
  say: (line: string) => void,
): Promise<Diagnostic | undefined> {
  const { plan, selected } = request;
  const instances = selected.map((index) => plan.instances[index]!);
  if (containerImages(instances, "dockerfile").size === 0) return undefined;
  const { previews } = await previewPlan(plan, selected, gate);
  const starts = startedIn(previews).map(({ index }) => plan.instances[index]!);
  if (!starts.some(({ stage }) => stage.durable)) return undefined;
  const images = containerImages(starts, "dockerfile");
  if (images.size === 0) return undefined;
  const { containerEngine } = await import("@mlrb/docker/container-engine");
  const engine = await containerEngine();
  if ("trouble" in engine) return undefined; // another gate reports it
  const { ensureImage } = await import("@mlrb/docker/ensure-image");
  for (const [image, stages] of images) {
    const onMake = () => say(`building the image of ${image}; attempts start when it is here`);
    const made = await ensureImage(engine, image, { root: gate.workspace.repository, onMake });
    if (made.ok) continue;
    const { folder } = parseImageReference(image) as { folder: string };
    return {
      code: "missing-image",
      message: `${quoted(stages)} would run in ${image}: ${made.detail}`,
      help: `attempts start only when every image is here: \`${engine.program} build --file ${image} ${folder}\` shows the whole build`,
    };
  }
  return undefined;
}
