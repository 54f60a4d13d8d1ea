// The text that names the source files of an action, for reasons only. All actions of a script share it.
import { canonicalJson } from "@mlrb/kit/json-file";
import type { Store } from "./artifact-store.ts";

/** By object, since all actions of a script share one. */
const kept = new WeakMap<object, { store: Store; digest: string }>();

/** Stores the digests of a script's source files as a text; returns its digest. */
export function codeFilesIn(store: Store, codeFiles: Record<string, string>): string {
  const held = kept.get(codeFiles);
  if (held?.store === store) return held.digest;
  const digest = store.putText(canonicalJson(codeFiles));
  kept.set(codeFiles, { store, digest });
  return digest;
}
