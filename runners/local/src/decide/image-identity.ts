// What a key holds of the image that an instance's programs come from. An agent can read its image, so the folder of a
// Dockerfile counts for an attempt as what is handed over does: with dotfiles, links, executable bits and docstrings.

import type { Instance } from "@mlrb/core/plan/plan";
import { imageIdentity, parseImageReference } from "@mlrb/core/spec/image-reference";
import type { Workspace } from "../store/workspace.ts";

type Digests = Pick<Workspace, "digests">;

/**
 * A trusted stage that is shown this host's own programs in a container runs what it runs without one, so it shares
 * its key; an agent meets another world in there.
 */
export function imageOf(instance: Instance, { digests }: Digests): { image?: string } {
  return identity(instance, (pattern) =>
    instance.stage.durable ? digests.ofHandedOver([pattern]) : digests.ofPatterns([pattern]),
  );
}

/** As attempts of format 1 have it. */
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
