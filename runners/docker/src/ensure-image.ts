// Pulls or builds an image before a container is created with `--pull never`. An image that we build has its
// identity as its tag, so it is built once.
import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ImageReference,
  imageIdentity,
  parseImageReference,
  unpinnedBases,
} from "@mlrb/core/spec/image-reference";
import { handedOver } from "@mlrb/kit/attempts/handed-over";
import type { ContainerEngine } from "./container-engine.ts";
import type { CallResult } from "./engine-call.ts";
import { hostImageRefusal, hostImageTar } from "./host-image.ts";
import { lockLabel } from "./image-environment.ts";

export type EnsuredImage = ({ ok: true } & ContainerImage) | { ok: false; detail: string };

export type ContainerImage = {
  reference: ImageReference;
  /** The engine's, e.g. `sha256:…`. */
  id: string;
  /** SHA-256 of the lock file whose environment it holds. */
  lock?: string;
};

/** Limit of a build or a pull: installing packages or pulling gigabytes takes long. */
const makingMs = 3_600_000;

export async function ensureImage(
  engine: ContainerEngine,
  image: string | undefined,
  /** `root`: the repository. `onMake` is called before an image of a Dockerfile is built. */
  { root, onMake }: { root: string; onMake?: () => void },
): Promise<EnsuredImage> {
  const reference = parseImageReference(image ?? "host");
  switch (reference.kind) {
    case "refused":
      return { ok: false, detail: `image: ${reference.message}; ${reference.help}` };
    case "host": {
      const refusal = hostImageRefusal();
      if (refusal !== undefined) return { ok: false, detail: refusal };
      return await made(engine, reference, imageIdentity(reference), async () =>
        engine.call(["import", "-"], { input: await hostImageTar() }),
      );
    }
    case "digest": {
      const name = imageIdentity(reference);
      const there = await inspected(engine, name, reference);
      if (there) return there;
      const pulled = await engine.call(["pull", "--quiet", name], { timeMs: makingMs });
      if (!pulled.ok)
        return { ok: false, detail: `image: ${name} could not be pulled: ${pulled.trouble.detail}` };
      return (await inspected(engine, name, reference)) ?? missing(name);
    }
    case "dockerfile": {
      const { file, folder } = reference;
      let identity: string;
      try {
        const loose = unpinnedBases(readFileSync(join(root, file), "utf8"));
        if (loose.length > 0) {
          const detail = `image: ${file} begins from ${loose.join(", ")}, which is not pinned to a digest; pin it: \`node scripts/pin-images.ts ${file}\``;
          return { ok: false, detail };
        }
        identity = imageIdentity(reference, await digestsIn(root, folder));
      } catch (error) {
        return { ok: false, detail: `image: ${file} cannot be read: ${(error as Error).message}` };
      }
      const args = ["build", "--quiet", "--file", join(root, file), join(root, folder)];
      return await made(engine, reference, identity, () => {
        onMake?.();
        return engine.call(args, { timeMs: makingMs });
      });
    }
  }
}

/** Those of `names` (images by digest) that this host would have to pull. One that the engine cannot tell is not listed. */
export async function lackingImages(engine: ContainerEngine, names: string[]): Promise<string[]> {
  const asked = await Promise.all(names.map((name) => engine.call(["image", "inspect", name])));
  return names.filter((_, at) => {
    const answer = asked[at]!;
    return !answer.ok && answer.trouble.kind === "image-missing";
  });
}

/** Finds the image of an identity or makes it. Of two that are made at once the first to get the tag is kept. */
async function made(
  engine: ContainerEngine,
  reference: ImageReference,
  identity: string,
  make: () => Promise<CallResult>,
): Promise<EnsuredImage> {
  const name = `mlrb/${identity.replace(/^(\w+):(.{1,40}).*$/, "$1:$2")}`;
  const there = await inspected(engine, name, reference);
  if (there) return there;
  const result = await make();
  if (!result.ok) return { ok: false, detail: `the image could not be built: ${result.trouble.detail}` };
  const id = result.stdout.trim().split("\n").at(-1)!;
  const first = await inspected(engine, name, reference);
  if (first && first.id !== id) {
    await engine.call(["rmi", id]);
    return first;
  }
  const tagged = await engine.call(["tag", id, name]);
  if (!tagged.ok) return { ok: false, detail: `the image could not be tagged: ${tagged.trouble.detail}` };
  return (await inspected(engine, name, reference)) ?? missing(name);
}

function missing(name: string): EnsuredImage {
  return { ok: false, detail: `image: ${name} was built and cannot be found` };
}

async function inspected(engine: ContainerEngine, name: string, reference: ImageReference) {
  const asked = await engine.call(["image", "inspect", "--format", "{{.Id}} {{json .Config}}", name]);
  if (!asked.ok) return undefined;
  const [, id, config] = /^(\S+) (.*)$/s.exec(asked.stdout.trim()) ?? [];
  const labels = (JSON.parse(config!) as { Labels?: Record<string, string> | null } | null)?.Labels;
  const lock = labels?.[lockLabel];
  return { ok: true as const, id: id!, ...(lock !== undefined && { lock }), reference };
}

/** The inputs of an image by their paths from the root: bytes, executable bits, links and names of folders. */
async function digestsIn(root: string, folder: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const entry of handedOver(join(root, folder))) {
    const path = `${folder}/${entry.path}`;
    if (entry.kind === "folder") digests[`${path}/`] = "folder";
    else if (entry.kind === "link") digests[path] = `link to ${entry.target}`;
    else digests[path] = `${await digestOf(join(root, path))}${entry.executable ? " executable" : ""}`;
  }
  return digests;
}

async function digestOf(path: string): Promise<string> {
  const sum = createHash("sha256");
  for await (const chunk of createReadStream(path)) sum.update(chunk as Buffer);
  return sum.digest("hex");
}
