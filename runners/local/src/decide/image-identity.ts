// The image part of a key. An agent can read its image. For an attempt, the folder of a Dockerfile therefore
// counts like the agent's files: with dotfiles, links, executable bits and docstrings.

import type { Instance } from "@mlrb/core/plan/plan";
import { imageIdentity, parseImageReference } from "@mlrb/core/spec/image-reference";
import type { Workspace } from "../store/workspace.ts";

type Digests = Pick<Workspace, "digests">;

/**
 * A trusted stage that uses the programs of this host in a container shares its key with the same stage outside a
 * container. An agent sees a different system there.
 */
export function imageOf({ stage, execution }: Instance, { digests }: Digests): { image?: string } {
  if (execution.executor === "local" || (execution.image === undefined && !stage.untrusted)) return {};
  const reference = parseImageReference(execution.image ?? "host");
  if (reference.kind === "refused") throw new Error(`bug: ${reference.message}`);
  if (reference.kind !== "dockerfile") return { image: imageIdentity(reference, {}) };
  const patterns = [`${reference.folder}/**`];
  const files = stage.durable ? digests.ofHandedOver(patterns) : digests.ofPatterns(patterns);
  return { image: imageIdentity(reference, files) };
}
