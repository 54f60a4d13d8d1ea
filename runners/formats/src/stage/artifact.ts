// An output of a stage by content: a file, or a folder as the digest of its tree.
import { oneOf, sha256, type TypeOf, wholeObject } from "../schema.ts";

export const artifactKind = oneOf("file", "dir");
export const artifact = wholeObject({ kind: artifactKind, digest: sha256 });
export type Artifact = TypeOf<typeof artifact>;
