// How much a source downloads. Apart from what reads locks, because that loads the reader of YAML.
import type { SourceManifest } from "@mlrb/formats/declared/source";
import type { LockState } from "./source-lock.ts";

/** Approximate before a source is locked; undefined where nothing is known. */
export function sourceBytes(manifest: SourceManifest, state: LockState): number | undefined {
  return state.kind === "resolved"
    ? state.entry.files.reduce((sum, { size }) => sum + size, 0)
    : manifest.seen?.bytes;
}
