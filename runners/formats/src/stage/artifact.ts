// An output of a stage by content: a file, or a folder as the digest of its tree.
import * as t from "../schema.ts";

export const artifactKind = t.oneOf("file", "dir");
export const artifact = t.wholeObject({ kind: artifactKind, digest: t.sha256 });
export type Artifact = t.TypeOf<typeof artifact>;
