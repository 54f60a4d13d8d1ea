// Reads the manifest of a collecting stage.
import { dirname, join } from "node:path";
import { mustFollow } from "@mlrb/formats/read-format";
import { type Collected, collected as format } from "@mlrb/formats/stage/collected";
import { readJson } from "./json-file.ts";

/** Reads a manifest and makes the paths of artifacts absolute. */
export function readCollected(manifest: string): Collected {
  const collected = mustFollow(format, readJson(manifest), manifest);
  for (const member of collected.members) {
    for (const artifact of Object.values(member.artifacts))
      if (artifact.path !== undefined) artifact.path = join(dirname(manifest), artifact.path);
  }
  return collected;
}
