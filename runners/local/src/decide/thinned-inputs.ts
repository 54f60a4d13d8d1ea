// Whether an instance would read weights that `attempts thin` removed. Such an instance cannot run again: the
// attempt is not repeated to make them.

import type { Reason } from "@mlrb/core/key/reasons";
import type { Instance } from "@mlrb/core/plan/plan";
import type { Outcome } from "@mlrb/core/ports/outcome";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import type { Store } from "../store/artifact-store.ts";
import type { Workspace } from "../store/workspace.ts";
import type { Bound } from "./bind-inputs.ts";
import type { CachedAction } from "./find-cached-action.ts";

export type ThinnedInput = Reason & { kind: "thinned" };

export function thinnedInput(
  { inputs, manifest }: Bound,
  { store, attempts }: Workspace,
): ThinnedInput | undefined {
  const { contents } = attempts.thinned();
  if (contents.size === 0) return undefined;
  const read: [string, Artifact][] = [
    ...Object.entries(inputs),
    ...(manifest?.members ?? []).flatMap(({ stage, artifacts }) =>
      Object.values(artifacts).flatMap((one): [string, Artifact][] => (one.path ? [[stage, one]] : [])),
    ),
  ];
  for (const [input, artifact] of read) {
    const gone = contentIn(artifact, store, (content) => contents.has(content) && !store.has(content));
    if (gone !== undefined) return { kind: "thinned", record: contents.get(gone)!, input };
  }
  return undefined;
}

/** The first content of an artifact that is `wanted`. Undefined if the store no longer knows the artifact's files. */
export function contentIn(
  artifact: Artifact,
  store: Store,
  wanted: (content: string) => boolean,
): string | undefined {
  return store.knownFilesOf(artifact)?.find(({ digest }) => wanted(digest))?.digest;
}

export function thinnedOutcome({ record }: ThinnedInput): Outcome {
  return {
    kind: "skipped",
    because: `weights of attempt ${record.slice(0, 12)}, which were removed (thinned)`,
  };
}

/** The last success of an instance, if it read the same weights: it was made by other code or from other data. */
export function keptResult(
  { id }: Instance,
  { inputs }: Bound,
  { input }: ThinnedInput,
  { last, actions, store, attempts }: Workspace,
): CachedAction | undefined {
  const before = last.get(id);
  const entry = before && actions.get(before.key);
  if (!entry || entry.parts.inputs[input] !== inputs[input]?.digest) return undefined;
  const { outputs, ran } = entry;
  if (!Object.values(outputs).every((output) => store.canGive(output, attempts.isThinned))) return undefined;
  return { outputs, durationMs: ran.durationMs };
}
