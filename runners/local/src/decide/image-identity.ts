// The image part of a key. An agent can read its image. For an attempt, the folder of a Dockerfile therefore counts
// like the agent's files: with dotfiles, links, executable bits and docstrings.

import type { Instance } from "@mlrb/core/plan/plan";
import { imageIdentity, parseImageReference } from "@mlrb/core/spec/image-reference";
import type { Workspace } from "../store/workspace.ts";

type Digests = Pick<Workspace, "digests">;

/**
 * A trusted stage that uses the programs of this host in a container shares its key with the same stage outside a
 * container. An agent sees a different system there.
 */
export function imageOf(instance: Instance, { digests }: Digests): { image?: string } {
  return identity(instance, (pattern) =>
    instance.stage.durable ? digests.ofHandedOver([pattern]) : digests.ofPatterns([pattern]),
  );
}

/** The image part of an attempt's key in format 1. */
export function formerImageOf(instance: Instance, { digests }: Digests): { image?: string } {
  return identity(instance, (pattern) => digests.ofPatterns([pattern]));
}

function identity(
  { stage, execution }: Instance,
  digestsOf: (pattern: string) => Record<string, string>,
): { image?: string } {
  if (execution.executor === "local" || (execution.image === undefined && !stage.untrusted)) return {};
  const reference = parseImageReference(execution.image ?? "host");
  if (reference.kind === "refused") throw new Error(`bug: ${reference.message}`);
  return {
    image: imageIdentity(
      reference,
      reference.kind === "dockerfile" ? digestsOf(`${reference.folder}/**`) : {},
    ),
  };
}
