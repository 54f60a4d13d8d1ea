// What was made of folders of attempts, by the actions in the cache. Once the weights in these folders are gone,
// the results cannot be made again.

import { dirname } from "node:path";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import type { Collected } from "@mlrb/formats/stage/collected";
import type { ActionCache, ActionEntry } from "../store/action-cache.ts";
import type { IsThinned, Store } from "../store/artifact-store.ts";
import type { StateFolder } from "../store/state-folder.ts";
import { syncFolder, syncPaths } from "../store/sync-folder.ts";

export type Action = { entry: ActionEntry; reads: string[] };

/** All actions in the cache with the digests of what they read: their inputs, and what they collect but for digests. */
export function actionsWithReads(actions: ActionCache, store: Store): Action[] {
  return actions.keys().flatMap((key) => {
    const entry = actions.get(key);
    if (!entry) return [];
    const { manifest, ...inputs } = entry.parts.inputs;
    return [{ entry, reads: [...Object.values(inputs), ...collected(manifest, store)] }];
  });
}

function collected(manifest: string | undefined, store: Store): string[] {
  if (manifest === undefined || !store.has(manifest)) return [];
  const { members } = JSON.parse(store.textOf(manifest)) as Collected;
  return members.flatMap(({ artifacts }) =>
    Object.values(artifacts).flatMap(({ path, digest }) => (path === undefined ? [] : [digest])),
  );
}

/**
 * The actions that read one of the folders `start`, or a folder that was made of it. A single file ends the chain:
 * what was made of a score is made again of the score.
 */
export function madeOf(
  start: Iterable<string>,
  actions: readonly Action[],
): { readers: ActionEntry[]; made: ReadonlySet<string> } {
  const made = new Set(start);
  const readers = new Set<ActionEntry>();
  for (let size = -1; size !== readers.size; ) {
    size = readers.size;
    for (const { entry, reads } of actions) {
      if (readers.has(entry) || !reads.some((digest) => made.has(digest))) continue;
      readers.add(entry);
      for (const { kind, digest } of Object.values(entry.outputs)) if (kind === "dir") made.add(digest);
    }
  }
  return { readers: [...readers], made };
}

/** The stages whose results are damaged or missing, every byte read. */
export function damagedStages(
  readers: readonly ActionEntry[],
  { store, isThinned }: { store: Store; isThinned: IsThinned },
): string[] {
  const damaged = readers.filter(
    ({ outputs }) => !Object.values(outputs).every((output) => store.isWhole(output, isThinned)),
  );
  return [...new Set(damaged.map(({ ran }) => ran.stage))].sort();
}

/** Makes results, and the cache's knowledge of them, survive a power cut. */
export function syncResults(
  readers: readonly ActionEntry[],
  { store, state }: { store: Store; state: StateFolder },
): void {
  const paths = new Set<string>();
  const add = (artifact: Artifact) => {
    const path = store.pathOf(artifact.digest);
    if (paths.has(path) || !store.has(artifact.digest)) return; // thinned
    paths.add(path);
    if (artifact.kind === "dir") for (const entry of store.entriesOf(artifact.digest)) add(entry);
  };
  for (const { outputs } of readers) for (const output of Object.values(outputs)) add(output);
  const folders = new Set([...paths].map((path) => dirname(path)));
  syncPaths([...paths, ...folders, state.blobs], state.blobs);
  for (const folder of [state.actions, state.last]) syncFolder(folder);
}
